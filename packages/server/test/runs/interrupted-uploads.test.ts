import { expect, test } from "bun:test";
import { uploadPredictions } from "../../src/evaluation/runs/imported/upload-predictions.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { datasetClient, toLines } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

const samples = [0, 1, 2].map((step) => ({
  trajectory_id: "t",
  step,
  interaction: { state: `state ${step}`, action: "go on" },
  next_state: `state ${step + 1}`,
}));
const lines = toLines([0, 1, 2].map((index) => ({ index, prediction: "x" })));

onEachDatabase((database) => {
  test("an upload that was silent for longer than its lease leaves alone what the next one has stored", async () => {
    const databaseUrl = await database.create();
    await using presage = await spawnPresage({ PRESAGE_DATABASE_URL: databaseUrl });
    const datasets = datasetClient(presage);
    const { create, end } = runClient(presage);
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, samples);
    const run = await create({ dataset_id, target: { predictions: "imported" } });

    await using store = await openStore(databaseUrl);
    const { account_id: accountId } = await store.database
      .selectFrom("runs")
      .select("account_id")
      .where("id", "=", run.id)
      .executeTakeFirstOrThrow();
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    async function* silentBody() {
      begun.resolve();
      yield new TextEncoder().encode(lines.slice(0, 10));
      await gate.promise;
      throw new Error("The client is gone");
    }
    const upload = { accountId, runId: run.id, isGzip: false, maxBytes: 1_000_000 };
    const silent = uploadPredictions(store.database, upload, silentBody()).catch(() => "failed");
    await begun.promise;
    await store.database.updateTable("runs").set({ lease_until: 1 }).where("id", "=", run.id).execute();

    const key = { "x-api-key": "bootstrap-key-of-the-tests-0123456789" };
    const next = await presage.call("POST", `/v1/runs/${run.id}/predictions`, lines, key);
    expect(next.status).toBe(200);
    expect((await end(run.id)).progress.evaluated).toBe(3);
    gate.resolve();
    expect(await silent).toBe("failed");
    const kept = await store.database
      .selectFrom("predictions")
      .select("id")
      .where("run_id", "=", run.id)
      .execute();
    expect(kept).toHaveLength(3);
  });
});
