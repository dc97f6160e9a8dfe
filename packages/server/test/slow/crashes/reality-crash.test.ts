import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EpisodeStart, RealityCheck, RealityCheckDetail } from "@presage/contract";
import { sandboxTasks } from "../../../src/environments/environment.ts";
import { eventually } from "../../support/eventually.ts";
import { startPresage, testKey } from "../../support/presage/presage.ts";
import { type SpawnedPresage, spawnPresage } from "../../support/presage/spawn-presage.ts";
import { onEachDatabase } from "../../support/store/databases.ts";

const [lantern] = sandboxTasks("train").map(({ task }) => task);
const episodes = 300;

onEachDatabase((database) => {
  test("a reality check whose process was killed goes on in the next one, each episode once", async () => {
    const directory = await mkdtemp(join(tmpdir(), "presage-reality-crash-"));
    const lab = await startPresage({});
    const environment = {
      PRESAGE_DATABASE_URL: await database.create(),
      PRESAGE_REAL_ENVIRONMENTS: join(directory, "real.yaml"),
      LAB_KEY: testKey,
    };
    const file = `environments:\n  lab: { protocol: http, url: "${lab.url}", environment: sandbox, api_key_env: LAB_KEY }\n`;
    await Bun.write(environment.PRESAGE_REAL_ENVIRONMENTS, file);
    const stop = [{ output_contains: "{goal}", outcome: "success" }];
    const call = async (to: SpawnedPresage, method: string, path: string, body?: unknown) =>
      await (await to.call(method, path, body)).json();
    let server = await spawnPresage(environment);
    try {
      await call(server, "POST", "/v1/environments", { name: "rooms", stop, real: { name: "lab" } });
      for (let index = 0; index < episodes; index += 1) {
        const task = { ...lantern, metadata: { index } };
        const started = await call(server, "POST", "/v1/episodes", { environment: "rooms", task });
        const { episode_id: id } = EpisodeStart.parse(started);
        await call(server, "POST", `/v1/episodes/${id}/step`, { action: "activate lantern" });
      }
      const made = await call(server, "POST", "/v1/reality-checks", { environment: "rooms", episodes: {} });
      const { id } = RealityCheck.parse(made);
      const read = async () =>
        RealityCheckDetail.parse(await call(server, "GET", `/v1/reality-checks/${id}`));
      const begun = await eventually(read, (check) => check.episodes > 0);
      server.kill("SIGKILL");
      await server.exited;
      server = await spawnPresage(environment);
      const check = await eventually(read, ({ status }) => status !== "running");
      expect(begun.episodes).toBeGreaterThan(0);
      expect(check).toMatchObject({ status: "completed", episodes, waiting: 0, failed: 0 });
      expect(check.figures.counts.both).toBe(episodes);
    } finally {
      server.kill("SIGKILL");
      await lab.stop();
      await rm(directory, { recursive: true });
    }
  }, 600_000);
});
