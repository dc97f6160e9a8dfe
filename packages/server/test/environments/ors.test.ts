import { beforeAll, expect, test } from "bun:test";
import { Episode } from "@presage/contract";
import { sql } from "kysely";
import { orsClient, readCall } from "../support/environments/ors-client.ts";
import { startPresage, testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { signInLocally } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { echo } from "../support/upstream/echo.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

/** Occurs in none of the server's own texts, so that the test finds it wherever it is kept. */
const secret = "sk-of-somebody-else-7f3a";

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_UPSTREAM_RETRIES: "0" });
  const client = orsClient(presage);
  const { send, start, newSession, call } = client;
  // biome-ignore lint/suspicious/noExplicitAny: each of the answers has a shape of its own
  const json = async (response: Response) => (await response.json()) as any;
  let stranger: ReturnType<typeof orsClient>;

  beforeAll(async () => {
    stranger = orsClient(presage, await keyOfAnotherAccount(presage.databaseUrl));
    const config = {
      stop: [{ output_contains: "{goal}", outcome: "success" }],
      max_steps: 5,
      tool: { name: "act", description: "Acts.", argument: "action" },
    };
    await presage.call("POST", "/v1/environments", { name: "kitchen", ...config });
    const tasks = [0, 1, 2].map((index) =>
      JSON.stringify({
        split: "test",
        initial_state: `state ${index}`,
        prompt: `Do ${index}.`,
        goal: "done",
        metadata: { index },
      }),
    );
    await presage.call("POST", "/v1/environments/kitchen/tasks", tasks.join("\n"));
  });

  async function episodeOf(sessionId: string): Promise<Episode> {
    const [id] = sessionId.split(".");
    return Episode.parse(await (await presage.call("GET", `/v1/episodes/${id}`)).json());
  }

  test("a client finds environments, their tool, splits and tasks", async () => {
    expect(await json(await send("GET", "/list_environments"))).toEqual(["sandbox", "kitchen"]);
    expect(await json(await send("GET", "/kitchen/tools"))).toEqual({
      tools: [
        {
          name: "act",
          description: "Acts.",
          input_schema: {
            type: "object",
            properties: { action: { type: "string", description: "What to do, in words." } },
            required: ["action"],
            additionalProperties: false,
          },
        },
      ],
    });
    expect(await json(await send("GET", "/Kitchen/splits"))).toEqual([{ name: "test", type: "test" }]);
    expect(await json(await send("POST", "/kitchen/num_tasks", { split: "test" }))).toEqual({ num_tasks: 3 });
    const task = (index: number) => ({
      split: "test",
      index,
      prompt: `Do ${index}.`,
      goal: "done",
      metadata: { index },
    });
    const all = { tasks: [0, 1, 2].map(task), env_name: "kitchen" };
    expect(await json(await send("POST", "/kitchen/tasks", { split: "test" }))).toEqual(all);
    const place = { split: "test", index: 1 };
    expect(await json(await send("POST", "/kitchen/task", place))).toEqual({
      task: task(1),
      env_name: "kitchen",
    });
    for (const [range, indexes] of [
      [{ start: 1 }, [1, 2]],
      [{ start: -1, stop: null }, [2]],
      [{ stop: -2 }, [0]],
      [{ start: 2, stop: 1 }, []],
      [{ start: -9, stop: 9 }, [0, 1, 2]],
    ] as const) {
      const response = await send("POST", "/kitchen/task_range", { split: "test", ...range });
      expect(await json(response)).toEqual({ tasks: indexes.map(task), env_name: "kitchen" });
    }
  });

  test("a task that is deleted while it is asked for is refused as one that never was", async () => {
    await presage.call("POST", "/v1/environments", { name: "cellar", max_steps: 5 });
    const task = { split: "test", initial_state: "A dark cellar." };
    await presage.call("POST", "/v1/environments/cellar/tasks", `${JSON.stringify(task)}\n`);
    const place = { split: "test", index: 0 };
    expect((await send("POST", "/cellar/task", place)).status).toBe(200);
    await using opened = await openStore(presage.databaseUrl);
    // As if deleted between the reads of the environment and the task.
    await opened.database
      .deleteFrom("environment_tasks")
      .where("environment_id", "in", (of) =>
        of.selectFrom("environments").select("id").where("name", "=", "cellar"),
      )
      .execute();
    const refused = await send("POST", "/cellar/task", place);
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("Invalid index")]);
  });

  test("an episode has its reward on the last step, and the history that the client saw", async () => {
    echo(upstream);
    const { tasks } = await json(await send("POST", "/kitchen/tasks", { split: "test" }));
    const sessionId = await start({ env_name: "kitchen", task_spec: tasks[1] });
    expect(await json(await send("GET", "/kitchen/prompt", undefined, sessionId))).toEqual([
      { type: "text", text: "Do 1.\n\nstate 1", detail: null },
    ]);
    expect(await json(await send("GET", "/kitchen/task_tools", undefined, sessionId))).toEqual(
      await json(await send("GET", "/kitchen/tools")),
    );
    expect((await send("POST", "/ping", undefined, sessionId)).status).toBe(200);
    const { result } = await call(sessionId, "kitchen", "one");
    const observation = "after State: state 1\n\nAction: one";
    expect(result).toMatchObject({
      ok: true,
      output: {
        blocks: [{ type: "text", text: observation, detail: null }],
        reward: null,
        finished: false,
        metadata: { step: 1, terminated: false, truncated: false, prompt_tokens: 11 },
      },
    });
    // The same action again is another step, because the first one's result was sent completely.
    upstream.answer = () => Response.json(completion("all done"));
    const last = await call(sessionId, "kitchen", "one");
    expect(last.result).toMatchObject({
      output: { reward: 1, finished: true, metadata: { step: 2, outcome: "success", terminated: true } },
    });
    const episode = await episodeOf(sessionId);
    expect(episode).toMatchObject({ environment: "kitchen", split: "test", index: 1, status: "finished" });
    expect(episode.steps.map(({ action, observation: text }) => [action, text])).toEqual([
      ["one", observation],
      ["one", "all done"],
    ]);
    const after = await call(sessionId, "kitchen", "two");
    expect(after.result).toEqual({
      ok: false,
      error: "The episode has ended; start a new one. Why it ended: output_contains: {goal}",
    });
    for (const path of ["/delete", "/delete_session", "/delete"])
      expect((await send("POST", path, undefined, sessionId)).status).toBe(200);
    expect((await send("POST", "/ping", undefined, sessionId)).status).toBe(404);
    expect((await episodeOf(sessionId)).steps_taken).toBe(2);
  });

  test("a session with a place and no environment is one of the environment that its first call names", async () => {
    const sessionId = await start({ split: "test", index: 2 });
    expect((await send("POST", "/ping", undefined, sessionId)).status).toBe(200);
    const asked = [1, 2, 3].map(() => send("GET", "/kitchen/prompt", undefined, sessionId));
    for (const response of await Promise.all(asked))
      expect(await json(response)).toMatchObject([{ text: "Do 2.\n\nstate 2" }]);
    const other = await send("GET", "/sandbox/prompt", undefined, sessionId);
    expect([other.status, await json(other)]).toEqual([
      400,
      { detail: expect.stringContaining("environment kitchen") },
    ]);
  });

  test("a path without an environment is of the one in X-Deployment, or of the sandbox", async () => {
    echo(upstream);
    const headers = { "x-api-key": testKey, "x-deployment": "somebody/kitchen" };
    const ask = (path: string, more: object = {}) =>
      presage.call("GET", path, undefined, { ...headers, ...more });
    expect(await json(await ask("/splits"))).toEqual([{ name: "test", type: "test" }]);
    expect(await json(await presage.call("GET", "/splits"))).toHaveLength(2);
    expect((await ask("/splits", { "x-deployment": "nowhere" })).status).toBe(404);
    const sessionId = await start({ split: "test", index: 0 });
    const inSession = { ...headers, "x-session-id": sessionId };
    expect(await json(await ask("/prompt", inSession))).toMatchObject([{ text: "Do 0.\n\nstate 0" }]);
    const call = { name: "act", input: { action: "look" } };
    const { result } = await readCall(await presage.call("POST", "/call", call, inSession));
    expect(result).toMatchObject({ ok: true, output: { finished: false } });
  });

  test("what is wrong has a status and a text that the client shows", async () => {
    const sessionId = await newSession();
    const created = async (body: object, id = sessionId) => {
      const response = await send("POST", "/create", body, id);
      return [response.status, (await json(response)).detail];
    };
    const wrong = [400, expect.stringMatching(/^(Invalid (split|index)|Provide)/)];
    expect(await created({ env_name: "kitchen", split: "train", index: 0 })).toEqual(wrong);
    expect(await created({ env_name: "kitchen", split: "test", index: 3 })).toEqual(wrong);
    expect(await created({ env_name: "kitchen", split: "test", index: -1 })).toEqual(wrong);
    expect(await created({ env_name: "kitchen", task_spec: { split: "nope", index: 0 } })).toEqual(wrong);
    expect(await created({ split: "nope", index: 0 })).toEqual([
      400,
      "Invalid split or index: no environment has a task 0 in a split nope.",
    ]);
    expect(await created({ env_name: "kitchen" })).toEqual(wrong);
    expect(await created({ env_name: "nowhere", split: "test", index: 0 })).toEqual([
      404,
      expect.any(String),
    ]);
    expect(await created({ split: "test", index: 0 }, "")).toEqual([
      400,
      expect.stringMatching(/X-Session-ID/),
    ]);
    expect(await created({ split: "test", index: 0 }, crypto.randomUUID())).toEqual([
      404,
      expect.any(String),
    ]);
    expect(await created({ env_name: "kitchen", split: "test", index: 0 })).toEqual([200, undefined]);
    await using store = await openStore(presage.databaseUrl);
    const [id = ""] = sessionId.split(".");
    const createdAgoMs = (ageMs: number) =>
      store.database
        .updateTable("ors_sessions")
        .set({ created_at: (Date.now() - ageMs) * 1_000 })
        .where("id", "=", id)
        .execute();
    // However long the two requests take, the second counts as no later than the first.
    await createdAgoMs(-60_000);
    expect(await created({ env_name: "kitchen", split: "test", index: 0 })).toEqual([
      400,
      "Session already exists.",
    ]);
    // The public client repeats a request that was cut off, after a second.
    await createdAgoMs(1_000);
    expect(await created({ env_name: "kitchen", split: "test", index: 1 })).toEqual([
      400,
      "Session already exists.",
    ]);
    expect(await created({ env_name: "kitchen", split: "test", index: 0 })).toEqual([200, undefined]);
    for (const [path, body] of [
      ["/nowhere/tools", undefined],
      ["/kitchen/tasks", { split: "train" }],
      ["/kitchen/task", { split: "test", index: 9 }],
    ] as const) {
      const response = await send(body === undefined ? "GET" : "POST", path, body);
      expect([path, response.status]).toEqual([path, body === undefined ? 404 : 400]);
    }
    const refused = async (body: object) =>
      (await readCall(await send("POST", "/kitchen/call", body, sessionId))).result;
    for (const body of [
      { name: "other", input: { action: "x" } },
      { name: "act", input: {} },
      { name: "act", input: { action: 7 } },
      { name: "act", input: { action: " " } },
      { name: "act", input: { action: "x", more: 1 } },
    ])
      expect(await refused(body)).toEqual({ ok: false, error: expect.any(String) });
    expect((await episodeOf(sessionId)).steps_taken).toBe(0);
    await expect(call(sessionId, "kitchen", "x", "no-such-task")).rejects.toThrow("unknown task_id");
  });

  test("a session belongs to its account, and only keys open it", async () => {
    echo(upstream);
    const sessionId = await start({ env_name: "kitchen", split: "test", index: 0 });
    await call(sessionId, "kitchen", "mine");
    const fresh = await newSession();
    expect(await json(await stranger.send("GET", "/list_environments"))).toEqual(["sandbox"]);
    for (const [method, path, body] of [
      ["POST", "/ping", undefined],
      ["POST", "/delete", undefined],
      ["POST", "/delete_session", undefined],
      ["GET", "/kitchen/prompt", undefined],
      ["GET", "/sandbox/task_tools", undefined],
      ["POST", "/kitchen/call", { name: "act", input: { action: "x" } }],
      ["POST", "/create", { env_name: "sandbox", split: "train", index: 0 }],
    ] as const) {
      for (const id of [sessionId, fresh])
        expect([path, (await stranger.send(method, path, body, id)).status]).toEqual([path, 404]);
      expect((await orsClient(presage, "wrong").send(method, path, body, sessionId)).status).toBe(401);
    }
    expect((await stranger.send("GET", "/kitchen/tools")).status).toBe(404);
    expect((await episodeOf(sessionId)).steps_taken).toBe(1);
    expect((await send("POST", "/ping", undefined, sessionId)).status).toBe(200);
  });

  test("neither a new session nor a ping writes to the database", async () => {
    await using store = await openStore(presage.databaseUrl);
    const rows = async () =>
      (await sql`select * from ors_sessions order by id`.execute(store.database)).rows as {
        id: string;
        last_used_at: number;
      }[];
    const before = await rows();
    const sessionId = await newSession();
    expect(await rows()).toEqual(before);
    await send("POST", "/create", { env_name: "sandbox", split: "train", index: 0 }, sessionId);
    const [id = ""] = sessionId.split(".");
    const mine = async () => (await rows()).find((row) => row.id === id);
    const created = await mine();
    for (let ping = 0; ping < 20; ping++) await send("POST", "/ping", undefined, sessionId);
    expect(await mine()).toEqual(created);
    const sixteenMinutesAgo = Number(created?.last_used_at) - 16 * 60_000_000;
    await sql`update ors_sessions set last_used_at = ${sixteenMinutesAgo} where id = ${id}`.execute(
      store.database,
    );
    expect((await send("GET", "/sandbox/prompt", undefined, sessionId)).status).toBe(404);
    expect((await send("POST", "/ping", undefined, sessionId)).status).toBe(404);
  });

  test("an error is never an observation: the episode is cut short and says why", async () => {
    echo(upstream);
    const sessionId = await start({ env_name: "kitchen", split: "test", index: 0 });
    await call(sessionId, "kitchen", "one");
    upstream.answer = () => new Response("no", { status: 500 });
    const failed = await call(sessionId, "kitchen", "two");
    expect(failed.result).toEqual({
      ok: true,
      output: {
        blocks: [],
        reward: null,
        finished: true,
        metadata: expect.objectContaining({
          truncated: true,
          terminated: false,
          outcome: null,
          error: { category: "upstream", message: expect.any(String) },
        }),
      },
    });
    expect((await call(sessionId, "kitchen", "two", failed.taskId)).result).toEqual(failed.result);
    echo(upstream);
    expect((await call(sessionId, "kitchen", "three")).result).toEqual(failed.result);
    const episode = await episodeOf(sessionId);
    expect(episode).toMatchObject({ status: "finished", outcome: null, reward: null, failed_steps: 1 });
    expect(episode.stop_reason).toStartWith("The next step could not be predicted: ");
    expect(episode.steps.map(({ action }) => action)).toEqual(["one"]);
  });

  test("secrets are thrown away: they are not stored, and no error quotes them", async () => {
    const sessionId = await newSession();
    for (const body of [
      { secrets: { token: secret }, split: 1 },
      { secrets: secret, env_name: ["x"] },
      [secret],
      secret,
    ])
      expect(await (await send("POST", "/create", body, sessionId)).text()).not.toContain(secret);
    const broken = await presage.call("POST", "/create", `{"secrets": {"token": ${secret}}}`, {
      "x-api-key": testKey,
      "x-session-id": sessionId,
    });
    expect([broken.status, await broken.text()]).toEqual([422, expect.not.stringContaining("sk-of")]);
    const wanted = { env_name: "sandbox", split: "train", index: 0, secrets: { token: secret } };
    expect((await send("POST", "/create", wanted, sessionId)).status).toBe(200);
    await using store = await openStore(presage.databaseUrl);
    for (const table of ["ors_sessions", "episodes", "idempotent_requests"] as const) {
      const { rows } = await sql`select * from ${sql.table(table)}`.execute(store.database);
      expect(JSON.stringify(rows)).not.toContain(secret);
    }
  });

  test("a key may come as a bearer token, and a browser's session is not taken", async () => {
    const headers = { authorization: `Bearer ${testKey}` };
    expect((await fetch(`${presage.url}/list_environments`, { headers })).status).toBe(200);
    const browser = await signInLocally(presage);
    expect((await browser.fetch(`${presage.url}/list_environments`)).status).toBe(401);
    const made = await browser.fetch(`${presage.url}/create_session`, { method: "POST" });
    expect(made.status).toBe(401);
  });

  test("a second process knows the sessions of the first, and what it was doing", async () => {
    if (database.name === "SQLite") return;
    const second = await startPresage({
      PRESAGE_DATABASE_URL: presage.databaseUrl,
      PRESAGE_UPSTREAM_URL: upstream.url,
    });
    try {
      const there = orsClient(second);
      const sessionId = await start({ env_name: "kitchen", split: "test", index: 0 });
      const asked = Promise.withResolvers<void>();
      upstream.answer = async () => {
        asked.resolve();
        await Bun.sleep(50);
        return Response.json(completion(`seen ${upstream.received.length}`));
      };
      // The other process knows the task of a step that is being taken, and of one that was taken.
      const taskId = await client.cut(sessionId, "kitchen", "one");
      const [first, again] = await Promise.all([
        there.call(sessionId, "kitchen", "one", taskId),
        call(sessionId, "kitchen", "one", taskId),
      ]);
      expect(again).toEqual(first);
      expect(await there.call(sessionId, "kitchen", "one", taskId)).toEqual(first);
      expect((await there.call(sessionId, "kitchen", "one")).taskId).not.toBe(taskId);
      expect((await episodeOf(sessionId)).steps.map(({ action }) => action)).toEqual(["one", "one"]);
      expect((await there.send("POST", "/delete", undefined, sessionId)).status).toBe(200);
      expect((await send("GET", "/kitchen/prompt", undefined, sessionId)).status).toBe(404);
    } finally {
      await second.stop();
    }
  });
});
