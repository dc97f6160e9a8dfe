import { expect, test } from "bun:test";
import { episodeClient } from "../support/environments/episode-client.ts";
import { expectEventually } from "../support/eventually.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { usageClient } from "../support/resources/usage.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { echo } from "../support/upstream/echo.ts";
import { promptOf } from "../support/upstream/judge.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_UPSTREAM_RETRIES: "0" });
  const { environment, start, send, step, read } = episodeClient(presage);

  const success = { output_contains: "{goal}", outcome: "success" };
  const failure = { action_matches: "^drop", outcome: "failure" };
  const cases = [
    {
      name: "success",
      config: { stop: [success] },
      actions: ["one", "the goal"],
      last: { terminated: true, truncated: false, reward: 1 },
      outcome: "success",
    },
    {
      name: "failure where success was possible",
      config: { stop: [failure, success] },
      actions: ["one", "drop it"],
      last: { terminated: true, truncated: false, reward: 0 },
      outcome: "failure",
    },
    {
      name: "failure where there is no success",
      config: { stop: [{ output_matches: "fi.e", outcome: "failure" }] },
      actions: ["five"],
      last: { terminated: true, truncated: false, reward: null },
      outcome: "failure",
    },
    {
      name: "an action",
      config: { stop: [{ action_equals: "done", outcome: "success" }] },
      actions: ["done it", "done"],
      last: { terminated: true, truncated: false, reward: 1 },
      outcome: "success",
    },
    {
      name: "a pattern of what the world says",
      config: { stop: [{ output_matches: "^you (win|are done)$", outcome: "success" }] },
      actions: ["will you win", "you win"],
      last: { terminated: true, truncated: false, reward: 1 },
      outcome: "success",
    },
    {
      name: "the first rule that applies",
      config: { stop: [{ action_equals: "the goal", outcome: "failure" }, success] },
      actions: ["the goal"],
      last: { terminated: true, truncated: false, reward: 0 },
      outcome: "failure",
    },
    {
      name: "a rule in the last step that there may be",
      config: { max_steps: 1, stop: [success] },
      actions: ["the goal"],
      last: { terminated: true, truncated: false, reward: 1 },
      outcome: "success",
    },
    {
      name: "the number of steps",
      config: { max_steps: 2, stop: [success] },
      actions: ["one", "two"],
      last: { terminated: false, truncated: true, reward: 0 },
      outcome: null,
    },
    {
      name: "a repeated action",
      config: { guards: { repeat_limit: 3 } },
      actions: ["one", "one", "two", "one", "one", "one"],
      last: { terminated: false, truncated: true, reward: null },
      outcome: null,
    },
  ] as const;
  for (const { name, config, actions, last, outcome } of cases) {
    test(`an episode ends by ${name}`, async () => {
      upstream.answer = ({ body }) =>
        Response.json(completion(body.messages.at(-1)?.content.split("Action: ").at(-1)));
      const id = await start(await environment(config, { goal: "the goal" }));
      for (const [index, action] of actions.entries()) {
        const { terminated, truncated, reward } = await step(id, action);
        expect({ terminated, truncated, reward }).toEqual(
          index === actions.length - 1 ? last : { terminated: false, truncated: false, reward: null },
        );
      }
      const episode = await read(id);
      expect(episode).toMatchObject({ status: "finished", outcome, reward: last.reward });
      const further = await send(id, "more");
      expect(further.status).toBe(409);
      expect((await read(id)).steps_taken).toBe(actions.length);
    });
  }

  test("limits of one are told in the singular", async () => {
    upstream.answer = () => Response.json(completion("start"));
    const reasonOf = async (config: object) =>
      (await step(await start(await environment(config)), "one")).info.stop_reason;
    expect(await reasonOf({ max_steps: 1 })).toBe("The episode reached its limit of 1 step.");
    expect(await reasonOf({ guards: { repeat_limit: 1 } })).toBe(
      "The same action was taken 1 time in a row.",
    );
    expect(await reasonOf({ guards: { unchanged_limit: 1 } })).toBe(
      "The same observation after 1 action in a row.",
    );
    const lone = await presage.call("POST", "/v1/episodes", { environment: await environment(), index: 1 });
    expect([lone.status, await lone.text()]).toEqual([
      404,
      expect.stringContaining("has 1 task, counted from 0"),
    ]);
  });

  test("an episode ends by observations that do not change", async () => {
    upstream.answer = () => Response.json(completion("start"));
    const id = await start(await environment({ guards: { unchanged_limit: 2 } }));
    expect((await step(id, "one")).truncated).toBe(false);
    expect((await step(id, "two")).truncated).toBe(true);
  });

  test("an evaluator rewards the last step, or every one; if it fails there is no reward, and why", async () => {
    echo(upstream);
    const reward = { evaluator: "contains", profile_name: "rewarding", when: "every-step" };
    const profile = { evaluator_family: "contains", name: "rewarding", config: { substrings: ["win"] } };
    expect((await presage.call("POST", "/v1/evaluator-profiles", profile)).status).toBe(201);
    const every = await start(await environment({ reward, max_steps: 2 }));
    expect((await step(every, "lose")).reward).toBe(0);
    expect((await step(every, "win")).reward).toBe(1);
    expect((await read(every)).reward).toBe(1);
    const last = await start(await environment({ reward: { ...reward, when: "last" }, max_steps: 2 }));
    expect((await step(last, "win")).reward).toBeNull();
    expect((await step(last, "win")).reward).toBe(1);
    // Without a goal there is no gold answer to compare with.
    const failing = await start(
      await environment({ reward: { evaluator: "exact-match", when: "every-step" } }),
    );
    const { reward: none, info } = await step(failing, "one");
    expect(none).toBeNull();
    expect(info.reward_error).toContain("evaluated_model_gold_answer");
    const { results } = (await (
      await presage.call("POST", "/v1/evaluation-results/search", {
        app: "episodes",
        tags: { episode: last },
      })
    ).json()) as { results: unknown[] };
    expect(results.length).toBe(1);
  });

  test("a pattern that other engines take years for is answered", async () => {
    const worst = `${"a".repeat(100_000)}!`;
    upstream.answer = () => Response.json(completion(worst));
    const stop = [
      { output_matches: "^(a+)+$", outcome: "failure" },
      { output_matches: "^(a|aa)*!$", outcome: "success" },
    ];
    const id = await start(await environment({ stop }));
    expect(await step(id, "look")).toMatchObject({ terminated: true, reward: 1 });
  });

  test("a judge that fails gives no reward, and why, even where the episode succeeded", async () => {
    upstream.answer = ({ body }) =>
      body.messages.at(-1)?.content.endsWith("Action: the goal")
        ? Response.json(completion("the goal"))
        : new Response("no", { status: 500 });
    const config = { pass_criteria: "Is it so?", required_fields: ["evaluated_model_input"] };
    const profile = { evaluator_family: "judge", name: "of-rewards", config };
    const made = await presage.call("POST", "/v1/evaluator-profiles", profile);
    expect([made.status, await made.text()]).toEqual([201, expect.any(String)]);
    for (const when of ["last", "every-step"]) {
      const reward = { evaluator: "judge", profile_name: "of-rewards", when };
      const id = await start(await environment({ stop: [success], reward }, { goal: "the goal" }));
      const last = await step(id, "the goal");
      expect(last).toMatchObject({ reward: null, terminated: true, info: { outcome: "success" } });
      expect(last.info.reward_error).toBeTruthy();
      const { reward: kept, steps } = await read(id);
      expect([kept, steps[0]?.reward, steps[0]?.info.reward_error]).toEqual([
        null,
        null,
        last.info.reward_error,
      ]);
    }
    const judged = upstream.received.map(promptOf).filter((prompt) => prompt.includes("Is it so?"));
    expect(judged[0]).toContain("gold answer>>>\nthe goal\n");
    const [ofOwner] = await apiKeyClient(() => presage).list();
    const judgesOf = async () =>
      (await usageClient(() => presage).list()).data
        .filter(({ operation }) => operation === "judge")
        .map(({ api_key_id }) => api_key_id)
        .join();
    await expectEventually(judgesOf, ofOwner?.id ?? "");
  });

  test("where a fifth of the predictions fail no observation comes of an error, and each episode says how many failed", async () => {
    let asked = 0;
    upstream.answer = ({ body }) => {
      asked += 1;
      if (asked % 5 === 0) return new Response("broken", { status: 500 });
      return Response.json(completion(`seen ${body.messages.at(-1)?.content.split("Action: ").at(-1)}`));
    };
    const name = await environment();
    const actions = ["one", "two", "three", "four"];
    const play = async (): Promise<number> => {
      const id = await start(name);
      let failed = 0;
      for (const action of actions) {
        let response = await send(id, action);
        while (response.status !== 200) {
          expect(response.status).toBe(502);
          failed += 1;
          response = await send(id, action);
        }
      }
      const episode = await read(id);
      expect(episode.failed_steps).toBe(failed);
      expect(episode.steps.map(({ observation }) => observation)).toEqual(
        actions.map((action) => `seen ${action}`),
      );
      return failed;
    };
    const failures = await Promise.all(Array.from({ length: 25 }, play));
    // In whatever order they come: a hundred steps, and a failure after every four of them.
    expect([asked, failures.reduce((sum, failed) => sum + failed, 0)]).toEqual([124, 24]);
  });

  test("guards compare texts as they are stored", async () => {
    upstream.answer = () => Response.json(completion("a\0"));
    const unchanged = await start(await environment({ guards: { unchanged_limit: 2 } }));
    for (const action of ["one", "two"]) await step(unchanged, action);
    expect(await step(unchanged, "three")).toMatchObject({ truncated: true });
  });

  test("a task with texts that no database stores ends and is rewarded as any other", async () => {
    upstream.answer = () => Response.json(completion("a\0b\ud800"));
    const reward = { evaluator: "exact-match", when: "every-step" };
    const task = { initial_state: "\0", goal: "a\0b\ud800" };
    const id = await start(await environment({ stop: [success], reward }, task));
    expect(await step(id, "look")).toMatchObject({
      reward: 1,
      terminated: true,
      info: { outcome: "success" },
    });
  });
});
