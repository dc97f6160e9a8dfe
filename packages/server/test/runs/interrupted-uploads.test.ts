import { expect, test } from "bun:test";
import { uploadPredictions } from "../../src/runs/imported.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { datasetClient, toLines } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { anyRequester } from "../support/store/requester.ts";

const samples = [0, 1, 2].map((step) => ({
  trajectory_id: "t",
  step,
  interaction: { state: `state ${step}`, action: "go on" },
  next_state: `state ${step + 1}`,
}));
const lines = toLines([0, 1, 2].map((index) => ({ index, prediction: "x" })));

onAnyDatabase((database) => {
  /** A server with a run that waits for its predictions, and an upload of them that waits in the middle. */
  async function beginUpload(begin: string) {
    const databaseUrl = await database.create();
    await using stack = new AsyncDisposableStack();
    const presage = stack.use(await spawnPresage({ PRESAGE_DATABASE_URL: databaseUrl }));
    const datasets = datasetClient(presage);
    const runs = runClient(presage);
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, samples);
    const { id } = await runs.create({ dataset_id, target: { predictions: "imported" } });
    const { database: store } = stack.use(await openStore(databaseUrl));
    const { account_id: accountId } = await store
      .selectFrom("runs")
      .select("account_id")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<string>();
    async function* body() {
      begun.resolve();
      yield new TextEncoder().encode(begin);
      const rest = await gate.promise;
      yield new TextEncoder().encode(rest);
    }
    const { actor } = anyRequester();
    const upload = { accountId, actor, runId: id, isGzip: false, maxBytes: 1_000_000, floor: undefined };
    const stored = uploadPredictions(store, upload, body()).catch(() => "failed");
    await begun.promise;
    return { id, presage, runs, store, stored, gate, stack: stack.move() };
  }

  test("an upload that was silent for longer than its lease leaves alone what the next one has stored", async () => {
    const { id, presage, runs, store, stored, gate, stack } = await beginUpload(lines.slice(0, 10));
    await using _ = stack;
    await store.updateTable("runs").set({ lease_until: 1 }).where("id", "=", id).execute();

    const key = { "x-api-key": "bootstrap-key-of-the-tests-0123456789" };
    const next = await presage.call("POST", `/v1/runs/${id}/predictions`, lines, key);
    expect(next.status).toBe(200);
    expect((await runs.end(id)).progress.evaluated).toBe(3);
    gate.resolve("not json\n");
    expect(await stored).toBe("failed");
    const kept = await store.selectFrom("predictions").select("id").where("run_id", "=", id).execute();
    expect(kept).toHaveLength(3);
  });

  test("a run that is paused during an upload and resumed after it waits for the next one", async () => {
    const { id, runs, stored, gate, stack } = await beginUpload("");
    await using _ = stack;
    await runs.change(id, "pause");
    gate.resolve(lines);
    expect(await stored).toBe("failed");
    await runs.change(id, "resume");
    expect(await runs.read(id)).toMatchObject({ status: "queued", progress: { predicted: 0 } });
  });

  test("a run whose upload ended with its server waits for all predictions, also after a pause", async () => {
    const { id, presage, runs, store, stored, gate, stack } = await beginUpload("");
    await using _ = stack;
    // A killed server leaves these values.
    await store.updateTable("runs").set({ predicted: 2, lease_until: 1 }).where("id", "=", id).execute();
    await runs.change(id, "pause");
    await runs.change(id, "resume");
    expect(await runs.read(id)).toMatchObject({ status: "queued" });
    const key = { "x-api-key": "bootstrap-key-of-the-tests-0123456789" };
    expect((await presage.call("POST", `/v1/runs/${id}/predictions`, lines, key)).status).toBe(200);
    expect((await runs.end(id)).progress).toMatchObject({ predicted: 3, evaluated: 3, failed: 0 });
    gate.resolve("");
    await stored;
  });

  test("a run whose upload is whole goes on by itself when it had to wait, and when it is resumed", async () => {
    const { id, runs, store, stored, gate, stack } = await beginUpload("");
    await using _ = stack;
    gate.resolve(lines);
    expect(await stored).not.toBe("failed");
    await runs.end(id);
    const set = (paused: { paused_by: "user" | "deployment"; started_at?: null }) =>
      store
        .updateTable("runs")
        .set({ status: "paused", finished_at: null, lease_id: null, lease_until: 1, ...paused })
        .where("id", "=", id)
        .execute();
    await set({ paused_by: "deployment" });
    expect(await runs.end(id)).toMatchObject({ status: "finished", progress: { evaluated: 3 } });
    await set({ paused_by: "user", started_at: null });
    await runs.change(id, "resume");
    expect(await runs.end(id)).toMatchObject({ status: "finished", progress: { evaluated: 3 } });
  });
});
