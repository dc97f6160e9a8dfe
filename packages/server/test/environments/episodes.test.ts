import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { EpisodeFiguresResponse, EpisodeListResponse, EpisodeStart, StepResponse } from "@presage/contract";
import { episodeClient } from "../support/environments/episode-client.ts";
import { startPresage, type TestPresage, testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { echo } from "../support/upstream/echo.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_UPSTREAM_RETRIES: "0" });
  const { environment, start, send, step, read } = episodeClient(presage);

  test("each step is told the observation before it, and the episode keeps them all", async () => {
    echo(upstream);
    const id = await start(await environment({ context: { task_context: "A task" } }));
    const first = await step(id, "one");
    expect(first.observation).toBe("after State: start\n\nAction: one");
    const second = await step(id, "two");
    expect(second.observation).toBe(`after State: ${first.observation}\n\nAction: two`);
    const asked = upstream.received.at(-1);
    expect(asked?.body.messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(asked?.body.temperature).toBe(0);
    expect(asked?.headers.get("x-session-id")).toBe(id);
    const episode = await read(id);
    expect(episode).toMatchObject({ status: "open", steps_taken: 2, failed_steps: 0, reward: null });
    expect(episode.steps.map(({ action, observation }) => [action, observation])).toEqual([
      ["one", first.observation],
      ["two", second.observation],
    ]);
    expect(episode.steps[0]?.info).toMatchObject({ step: 1, prompt_tokens: 11, completion_tokens: 7 });
  });

  test("a chat is one conversation of all its turns", async () => {
    let calls = 0;
    upstream.answer = () => {
      calls += 1;
      return Response.json(completion(`seen ${calls}`));
    };
    const id = await start(await environment({ prompt_form: "chat", context: { task_context: "A task" } }));
    for (const action of ["one", "two", "three"]) await step(id, action);
    expect(upstream.received.at(-1)?.body.messages).toEqual([
      { role: "system", content: "## TASK CONTEXT\nA task" },
      { role: "user", content: "State: start\n\nAction: one" },
      { role: "assistant", content: "seen 1" },
      { role: "user", content: "Action: two" },
      { role: "assistant", content: "seen 2" },
      { role: "user", content: "Action: three" },
    ]);
  });

  test("an episode may have a task that its environment does not have", async () => {
    echo(upstream);
    const name = await environment({ stop: [{ output_contains: "{goal}", outcome: "success" }] });
    const task = {
      split: "test",
      initial_state: "You are in a hall.",
      prompt: "Find the garden.",
      context: { task_context: "A house" },
      goal: "Action: open the door",
      metadata: { drawn: 7 },
    };
    const response = await presage.call("POST", "/v1/episodes", { environment: name, task });
    const { episode_id: id, observation, info } = EpisodeStart.parse(await response.json());
    expect(observation).toBe(task.initial_state);
    expect(info).toMatchObject({ split: "test", index: null, prompt: task.prompt, metadata: task.metadata });
    expect(await step(id, "open the door")).toMatchObject({ terminated: true, info: { outcome: "success" } });
    expect(upstream.received.at(-1)?.body.messages[0]?.content).toContain("A house");
    expect(await read(id)).toMatchObject({ index: null, initial_state: task.initial_state, goal: task.goal });
    // The split has no tasks of its own.
    expect((await presage.call("POST", "/v1/episodes", { environment: name, split: "test" })).status).toBe(
      404,
    );
  });

  test("episodes of equal tasks that came with requests are one task in figures", async () => {
    const name = await environment({ max_steps: 1 });
    upstream.answer = () => Response.json(completion("seen"));
    for (const initial_state of ["a hall", "a cellar", "a hall"])
      await step(await start(name, { task: { initial_state } }), "look");
    const figures = await presage.call("GET", `/v1/episodes/figures?environment=${name}`);
    expect(EpisodeFiguresResponse.parse(await figures.json()).data).toMatchObject([
      { episodes: 3, tasks: 2 },
    ]);
    const listed = await presage.call("GET", `/v1/episodes?environment=${name}`);
    expect(EpisodeListResponse.parse(await listed.json()).data.map(({ index }) => index)).toEqual([
      null,
      null,
      null,
    ]);
  });

  test("a list says what an episode's task asks for, in the task's own words", async () => {
    const name = await environment({ max_steps: 1 });
    const initial_state = 'It says "prompt":"none".';
    const context = { task_context: 'Find the "key".' };
    const tasks = [
      { initial_state, prompt: "Open the door.\n".repeat(20), goal: "It is open.", context },
      { initial_state, prompt: "", goal: "It is open.", context },
      { initial_state, context, metadata: { prompt: "Not this." } },
      { initial_state },
    ];
    for (const task of tasks) await start(name, { task });
    const listed = await presage.call("GET", `/v1/episodes?environment=${name}`);
    const { data } = EpisodeListResponse.parse(await listed.json());
    expect(data.map(({ instruction }) => instruction).reverse()).toEqual([
      tasks[0]?.prompt?.slice(0, 200) ?? "",
      "It is open.",
      context.task_context,
      null,
    ]);
  });

  for (const [field, place] of Object.entries({ index: { index: 0 }, split: { split: "train" } })) {
    test(`a task is not named by its ${field} as well`, async () => {
      const name = await environment();
      const body = { environment: name, task: { initial_state: "a hall" }, ...place };
      const response = await presage.call("POST", "/v1/episodes", body);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({
        detail: [{ loc: ["body", field], type: "value_error" }],
      });
    });
  }

  test("a failed prediction is never an observation: the episode stands where it was", async () => {
    echo(upstream);
    const id = await start(await environment());
    await step(id, "one");
    upstream.answer = () => new Response("no", { status: 500 });
    expect((await send(id, "two")).status).toBe(502);
    expect(await read(id)).toMatchObject({ status: "open", steps_taken: 1, failed_steps: 1 });
    echo(upstream);
    expect((await step(id, "two")).info.step).toBe(2);
    expect((await read(id)).steps.map(({ action }) => action)).toEqual(["one", "two"]);
  });

  test("a step with an Idempotency-Key is taken once", async () => {
    let calls = 0;
    upstream.answer = () => {
      calls += 1;
      return Response.json(completion(`seen ${calls}`));
    };
    const id = await start(await environment());
    const first = await step(id, "one", "k1");
    expect(await step(id, "one", "k1")).toEqual(first);
    expect((await send(id, "other", "k1")).status).toBe(422);
    expect(calls).toBe(1);
    await step(id, "two", "k2");
    expect(await step(id, "one", "k1")).toEqual(first);
    expect((await read(id)).steps_taken).toBe(2);
  });

  describe("with a second process", () => {
    let second: TestPresage;

    beforeAll(async () => {
      second = await startPresage({
        PRESAGE_DATABASE_URL: presage.databaseUrl,
        PRESAGE_UPSTREAM_URL: upstream.url,
      });
    });

    afterAll(() => second.stop());

    test("of steps that race with one key there is one", async () => {
      echo(upstream);
      const id = await start(await environment());
      const headers = { "x-api-key": testKey, "idempotency-key": "raced" };
      const answers = await Promise.all(
        [presage, second, presage, second].map((each) =>
          each.call("POST", `/v1/episodes/${id}/step`, { action: "one" }, headers).then((one) => one.json()),
        ),
      );
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      expect((await read(id)).steps.length).toBe(1);
    });

    test("they take turns in an episode, and each tells the model all that the other did", async () => {
      let said: string[] = [];
      upstream.answer = ({ body }) => {
        said = body.messages.map(({ content }) => content);
        return Response.json(completion(`answer ${said.length}`));
      };
      const id = await start(await environment({ prompt_form: "chat" }));
      for (const [index, each] of [presage, presage, second, presage, second, second].entries()) {
        const answer = await each.call("POST", `/v1/episodes/${id}/step`, { action: `step ${index}` });
        expect(StepResponse.parse(await answer.json()).observation).toBe(`answer ${2 * index + 1}`);
        expect(said.slice(1)).toEqual(
          Array.from({ length: index }, (_, before) => [
            `answer ${2 * before + 1}`,
            `Action: step ${before + 1}`,
          ]).flat(),
        );
      }
    });

    test("a process learns of the end that the other one saw", async () => {
      echo(upstream);
      const id = await start(await environment({ max_steps: 2 }));
      await step(id, "one");
      const headers = { "x-api-key": testKey, "idempotency-key": "last" };
      const last = await second.call("POST", `/v1/episodes/${id}/step`, { action: "two" }, headers);
      expect(await step(id, "two", "last")).toEqual(StepResponse.parse(await last.json()));
      const refused = await send(id, "three");
      expect(refused.status).toBe(409);
      expect(await refused.json()).toEqual({
        detail:
          "The episode has ended; start a new one. Why it ended: The episode reached its limit of 2 steps.",
      });
    });

    test("a process finds an episode gone that the other one deleted", async () => {
      echo(upstream);
      const id = await start(await environment());
      await step(id, "one");
      await second.call("DELETE", `/v1/episodes/${id}`);
      expect((await send(id, "two")).status).toBe(404);
    });
  });

  test("of different steps at the same time one is taken, and the others are conflicts", async () => {
    upstream.answer = async () => {
      await Bun.sleep(50);
      return Response.json(completion("seen"));
    };
    const id = await start(await environment());
    const statuses = await Promise.all(
      ["a", "b", "c"].map(async (action) => (await send(id, action)).status),
    );
    expect(statuses.toSorted()).toEqual([200, 409, 409]);
    expect((await read(id)).steps.length).toBe(1);
  });

  test("an episode that nobody used for 15 minutes has expired and can still be read", async () => {
    echo(upstream);
    const id = await start(await environment());
    // On SQLite a process trusts what it knows of an episode: src/environments/episodes/read-progress.test.ts.
    const steps = database.name === "PostgreSQL" ? 1 : 0;
    if (steps === 1) await step(id, "one");
    await using store = await openStore(presage.databaseUrl);
    const longAgo = (Date.now() - 16 * 60_000) * 1000;
    await store.database
      .updateTable("episodes")
      .set({ last_active_at: longAgo })
      .where("id", "=", id)
      .execute();
    expect((await send(id, "two")).status).toBe(409);
    expect(await read(id)).toMatchObject({ status: "expired", steps_taken: steps });
  });

  test("an episode whose environment is gone is played in no other world", async () => {
    echo(upstream);
    const id = await start(await environment());
    await using store = await openStore(presage.databaseUrl);
    const { environment_id } = await store.database
      .selectFrom("episodes")
      .select("environment_id")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    await store.database
      .deleteFrom("environment_revisions")
      .where("environment_id", "=", environment_id)
      .execute();
    expect((await send(id, "one")).status).toBe(404);
  });

  test("what is remembered of an episode is not taken for another one under its id", async () => {
    echo(upstream);
    const id = await start(await environment());
    await step(id, "one");
    await using store = await openStore(presage.databaseUrl);
    await store.database
      .updateTable("episodes")
      .set({ task: JSON.stringify({ initial_state: "elsewhere" }), created_at: 1 })
      .where("id", "=", id)
      .execute();
    await store.database
      .updateTable("prediction_payloads")
      .set({ output: "seen elsewhere" })
      .where("prediction_id", "in", (of) =>
        of.selectFrom("predictions").select("id").where("run_id", "=", id),
      )
      .execute();
    expect((await step(id, "two")).observation).toBe("after State: seen elsewhere\n\nAction: two");
  });

  test("an episode keeps the revision that it was started with", async () => {
    echo(upstream);
    const name = await environment({ max_steps: 5 });
    const id = await start(name);
    await presage.call("PATCH", `/v1/environments/${name}`, { max_steps: 1 });
    expect((await step(id, "one")).truncated).toBe(false);
    expect((await step(await start(name), "one")).truncated).toBe(true);
  });

  test("the same seed draws the same task, and is sent with each step", async () => {
    echo(upstream);
    const name = await environment();
    const more = Array.from({ length: 20 }, (_, index) => JSON.stringify({ initial_state: `s${index}` }));
    await presage.call("POST", `/v1/environments/${name}/tasks`, more.join("\n"));
    const drawn = await Promise.all(
      [1, 1, 2, 3, 4].map(async (seed) => (await read(await start(name, { seed }))).index),
    );
    expect(drawn[0]).toBe(drawn[1] as number);
    expect(new Set(drawn).size).toBeGreaterThan(1);
    await step(await start(name, { seed: 7, index: 0 }), "one");
    expect(upstream.received.at(-1)?.body.seed).toBe(7);
    const beyond = await presage.call("POST", "/v1/episodes", { environment: name, index: 21 });
    expect(beyond.status).toBe(404);
    const empty = await presage.call("POST", "/v1/episodes", { environment: name, split: "test" });
    expect(empty.status).toBe(404);
  });

  test("episodes are listed, newest first, and deleted with their steps", async () => {
    echo(upstream);
    const name = await environment();
    const ids = [await start(name), await start(name), await start(name)];
    await step(ids[0] ?? "", "one");
    const list = async (query: string) =>
      EpisodeListResponse.parse(
        await (await presage.call("GET", `/v1/episodes?environment=${name}${query}`)).json(),
      );
    const { data, next } = await list("&limit=2");
    expect([...data, ...(await list(`&limit=2&after=${next}`)).data].map(({ id }) => id)).toEqual(
      ids.toReversed(),
    );
    for (const path of ["episodes?env=x", "episodes/figures?env=x", "environments?name=x", "datasets?name=x"])
      expect([path, (await presage.call("GET", `/v1/${path}`)).status]).toEqual([path, 422]);
    expect((await presage.call("DELETE", `/v1/episodes/${ids[0]}`)).status).toBe(204);
    expect((await presage.call("GET", `/v1/episodes/${ids[0]}`)).status).toBe(404);
    upstream.answer = () => {
      throw new Error("the model hears nothing of a deleted episode");
    };
    expect((await send(ids[0] ?? "", "two")).status).toBe(404);
    await using store = await openStore(presage.databaseUrl);
    for (const table of ["episode_steps", "predictions"] as const) {
      const column = table === "predictions" ? "run_id" : ("episode_id" as "run_id");
      const rows = await store.database
        .selectFrom(table as "predictions")
        .selectAll()
        .where(column, "=", ids[0] ?? "")
        .execute();
      expect(rows).toEqual([]);
    }
  });
});
