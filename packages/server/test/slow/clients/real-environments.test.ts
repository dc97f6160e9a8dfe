import { describe, expect, test } from "bun:test";
import { parseRealEnvironments } from "../../../src/config/real-environments.ts";
import { sandboxTasks } from "../../../src/environments/environment.ts";
import type { RealEnvironment, RealStep } from "../../../src/reality/real/real-environment.ts";
import { createRealEnvironments } from "../../../src/reality/real/real-environments.ts";
import { realPythons, startRealServer } from "../../support/reality/real-servers.ts";

const { signal } = new AbortController();
const tasks = sandboxTasks("train").map(({ task }) => task);
const settings = {
  openenv: "reset: { task: '{task}' }, observation: prompt",
  ors: "environment: sandbox, reset: '{task}'",
};

function declare(protocol: "openenv" | "ors", url: string): RealEnvironment {
  const text = `environments: { it: { protocol: ${protocol}, url: '${url}', ${settings[protocol]}, max_in_flight: 3 } }`;
  const [environment] = createRealEnvironments(
    parseRealEnvironments("real.yaml", text, {}),
    async () => false,
  ).all();
  if (environment === undefined) throw new Error("There is none.");
  return environment;
}

/** The steps of an episode, until it ends or the actions do. */
async function play(environment: RealEnvironment, task: (typeof tasks)[number], actions: string[]) {
  const session = await environment.open(task, signal);
  const steps: RealStep[] = [];
  for (const action of actions) {
    steps.push(await session.step(action, signal));
    if (steps.at(-1)?.done) break;
  }
  await session.close();
  return { first: session.first, steps, succeeded: await environment.succeeded(task, steps) };
}

for (const protocol of ["openenv", "ors"] as const) {
  const python = await realPythons[protocol]();
  describe.skipIf(python === undefined)(`A server of ${protocol}'s public package`, () => {
    test("is reset to a task and plays it, as many episodes at once as it may", async () => {
      await using server = await start();
      const environment = declare(protocol, server.url);
      const [task] = tasks;
      if (task === undefined) throw new Error("The sandbox has no task.");
      const played = await play(environment, task, ["look around", "activate lantern", "look around"]);
      expect(played).toEqual({
        first: task.initial_state,
        steps: [
          {
            observation: expect.stringContaining("This room is called the workshop"),
            reward: 0,
            done: false,
            latencyMs: expect.any(Number),
          },
          {
            observation: "The lantern is now activated.",
            reward: 1,
            done: true,
            latencyMs: expect.any(Number),
          },
        ],
        succeeded: true,
      });
      let most = 0;
      const all = await Promise.all(
        Array.from({ length: 12 }, async () => {
          const { succeeded } = await play(environment, task, ["open chest"]);
          most = Math.max(most, environment.inFlight());
          return succeeded;
        }),
      );
      expect([all.some(Boolean), most <= 3, environment.inFlight()]).toEqual([false, true, 0]);
      expect(environment.lastFailure()).toBeUndefined();
    });

    test("refuses one verb as often as it is told to, and the same ones for the same seed", async () => {
      const outcomes = await Promise.all([1, 2].map(() => playRefused()));
      expect(outcomes[0]).toEqual(outcomes[1]);
      const successes = outcomes[0]?.filter(Boolean).length ?? 0;
      // Out of 60 episodes whose verb is refused with a probability of 0.3 each.
      expect([successes > 27, successes < 57]).toEqual([true, true]);
    });

    const start = (refusals?: Parameters<typeof startRealServer>[2]) =>
      startRealServer(protocol, python ?? "", refusals).then((server) => ({
        ...server,
        [Symbol.asyncDispose]: server.stop,
      }));

    async function playRefused(): Promise<boolean[]> {
      await using server = await start({ verb: "activate", probability: 0.3, seed: 7 });
      const environment = declare(protocol, server.url);
      const outcomes: boolean[] = [];
      for (let round = 0; round < 60; round += 1) {
        const { succeeded } = await play(environment, tasks[0] ?? { initial_state: "" }, [
          "activate lantern",
        ]);
        outcomes.push(succeeded);
      }
      return outcomes;
    }
  });
}
