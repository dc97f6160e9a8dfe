import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EnvironmentReality, EpisodeStart, RealityCheck, RealityCheckDetail } from "@presage/contract";
import { sandboxTasks } from "../../../src/environments/environment.ts";
import { eventually } from "../../support/eventually.ts";
import { startPresage } from "../../support/presage/presage.ts";
import { realPythons, startRealServer } from "../../support/reality/real-servers.ts";

const settings = {
  openenv: "reset: { task: '{task}' }, observation: prompt",
  ors: "environment: sandbox, reset: '{task}'",
};
const train = sandboxTasks("train").map(({ task }) => task);
const [lantern, chest] = [train[0], train[1]];
const each = 60;
const refused = 0.5;

/** A world whose successes are real except for one verb, which is refused with a known probability. */
for (const protocol of ["openenv", "ors"] as const) {
  const python = await realPythons[protocol]();
  describe.skipIf(python === undefined)(`Against a server of ${protocol}'s public package`, () => {
    test.each([
      ["a verb that is refused half the time is found, and rings", "open", refused],
      ["an honest world does not ring", "", 0],
    ])("%s", async (_, verb, probability) => {
      const directory = await mkdtemp(join(tmpdir(), "presage-truth-"));
      const real = await startRealServer(protocol, python ?? "", { verb, probability, seed: 11 });
      const file = join(directory, "real.yaml");
      await Bun.write(
        file,
        `environments: { lab: { protocol: ${protocol}, url: '${real.url}', ${settings[protocol]} } }`,
      );
      const presage = await startPresage({ PRESAGE_REAL_ENVIRONMENTS: file });
      const call = async (method: string, path: string, body?: unknown) =>
        await (await presage.call(method, path, body)).json();
      try {
        const stop = [{ output_contains: "{goal}", outcome: "success" }];
        const limited = { name: "lab", false_success_limit: 0.1 };
        await call("POST", "/v1/environments", { name: "rooms", prompt_form: "chat", stop, real: limited });
        for (const [task, action] of [
          [lantern, "activate lantern"],
          [chest, "open chest"],
        ] as const) {
          for (let number = 0; number < each; number += 1) {
            const own = { ...task, metadata: { number } };
            const started = await call("POST", "/v1/episodes", { environment: "rooms", task: own });
            const { episode_id: id } = EpisodeStart.parse(started);
            await call("POST", `/v1/episodes/${id}/step`, { action });
          }
        }
        const made = await call("POST", "/v1/reality-checks", { environment: "rooms", episodes: {} });
        const { id } = RealityCheck.parse(made);
        const { status, failed, figures } = await eventually(
          async () => RealityCheckDetail.parse(await call("GET", `/v1/reality-checks/${id}`)),
          (check) => check.status !== "running",
        );
        expect([status, failed, figures.false_success_rate.count]).toEqual(["completed", 0, 2 * each]);
        const { value, interval, tasks } = figures.false_success_rate;
        const truth = probability / 2;
        expect(tasks).toBe(2 * each);
        expect(interval?.lower).toBeLessThanOrEqual(truth);
        expect(interval?.upper).toBeGreaterThanOrEqual(truth);
        const { state } = EnvironmentReality.parse(await call("GET", "/v1/environments/rooms/reality"));
        expect(state).toMatchObject({ state: probability === 0 ? "ok" : "alarm", value });
        expect(figures.exploits.verbs.slice(0, 1).map((one) => one.verb)).toEqual(verb === "" ? [] : [verb]);
      } finally {
        await presage.stop();
        await real.stop();
        await rm(directory, { recursive: true });
      }
    });
  });
}
