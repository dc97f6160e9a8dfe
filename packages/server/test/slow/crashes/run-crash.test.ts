import { expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { type SpawnedPresage, spawnPresage } from "../../support/presage/spawn-presage.ts";
import { datasetClient } from "../../support/resources/datasets.ts";
import { runClient } from "../../support/resources/runs.ts";
import { seeded } from "../../support/seeded.ts";
import { onEachDatabase } from "../../support/store/databases.ts";
import { openStore } from "../../support/store/open-store.ts";
import { completion } from "../../support/upstream/upstream.ts";
import { useUpstream } from "../../support/upstream/use-upstream.ts";

/** For a longer test: PRESAGE_TEST_CRASHES=20. */
const crashes = Number(process.env.PRESAGE_TEST_CRASHES ?? 2);
const concurrency = 8;
const samplesEach = 50;
const trajectories = 4 * crashes;
const total = trajectories * samplesEach;

const samples = Array.from({ length: total }, (_, index) => ({
  trajectory_id: `t${Math.floor(index / samplesEach)}`,
  step: index % samplesEach,
  interaction: { state: `state ${index}`, action: "go on" },
  next_state: `state ${index + 1}`,
}));

onEachDatabase((database) => {
  const upstream = useUpstream();

  test(
    `a run that lost its process ${crashes} times ends by itself, with one prediction and one verdict of each evaluator for every sample`,
    seeded(async (draw) => {
      const databaseUrl = await database.create();
      const environment = { PRESAGE_DATABASE_URL: databaseUrl, PRESAGE_UPSTREAM_URL: upstream.url };
      upstream.received.length = 0;
      upstream.answer = async ({ body }) => {
        await Bun.sleep(20);
        const state = Number(/state (\d+)/.exec(body.messages.at(-1)?.content ?? "")?.[1]);
        return Response.json(completion(`state ${state + (state % 3 === 0 ? 2 : 1)}`));
      };
      // On PostgreSQL another running process takes over; on SQLite the next one to start does.
      const peers = database.name === "PostgreSQL" ? 2 : 1;
      const running: SpawnedPresage[] = [];
      for (let peer = 0; peer < peers; peer += 1) running.push(await spawnPresage(environment));
      const someone = (): SpawnedPresage => {
        const [first] = running;
        if (first === undefined) throw new Error("No process is running");
        return first;
      };
      const clients = { datasets: datasetClient(someone()), runs: runClient(someone()) };
      const dataset_id = await clients.datasets.create();
      await clients.datasets.uploadNew(dataset_id, samples);
      const run = await clients.runs.create({
        dataset_id,
        target: { deployment: "default" },
        evaluators: [{ evaluator: "exact-match" }, { evaluator: "state-change" }],
        concurrency,
      });
      await using store = await openStore(databaseUrl);
      const predicted = async () => (await readRun())?.predicted ?? 0;
      const readRun = () =>
        store.database.selectFrom("runs").selectAll().where("id", "=", run.id).executeTakeFirst();

      for (let crash = 1; crash <= crashes; crash += 1) {
        const before = await predicted();
        await eventually(predicted, (count) => count > before + draw.below(samplesEach), 60_000);
        running.shift()?.kill("SIGKILL");
        // On PostgreSQL the test does not wait 30 s for the dead process's lease; on SQLite the start releases it.
        await Bun.sleep(50);
        if (peers > 1) await store.database.updateTable("runs").set({ lease_until: 0 }).execute();
        const left = await predicted();
        running.push(await spawnPresage(environment));
        expect(await eventually(predicted, (count) => count > left, 15_000)).toBeGreaterThan(left);
      }
      await eventually(readRun, (row) => row?.status === "finished", 120_000);
      expect(await runClient(someone()).read(run.id)).toMatchObject({
        status: "finished",
        progress: { samples: total, predicted: total, evaluated: total, failed: 0 },
      });

      const rowsOf = async (table: "predictions" | "run_verdicts") =>
        await store.database.selectFrom(table).select("position").where("run_id", "=", run.id).execute();
      expect((await rowsOf("predictions")).length).toBe(total);
      expect((await rowsOf("run_verdicts")).length).toBe(2 * total);
      const results = await store.database
        .selectFrom("evaluation_results")
        .select(["evaluator_family", "sample_key"])
        .where("run_id", "=", run.id)
        .execute();
      expect(results.length).toBe(2 * total);
      // Only requests in progress at a kill were made again.
      expect(upstream.received.length).toBeLessThanOrEqual(total + crashes * concurrency);
      const passed = await store.database
        .selectFrom("run_verdicts")
        .select("pass")
        .where("run_id", "=", run.id)
        .where("evaluator", "=", 0)
        .where("pass", "=", 1)
        .execute();
      expect(passed.length).toBe(samples.filter((_, index) => index % 3 !== 0).length);
      await Promise.all(running.map((one) => one[Symbol.asyncDispose]()));
    }),
    600_000,
  );
});
