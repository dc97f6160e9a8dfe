import { expect, test } from "bun:test";
import { setTimeout as sleep } from "node:timers/promises";
import { sweepRevisions } from "../../../src/datasets/datasets-store.ts";
import { eventually } from "../../support/eventually.ts";
import { launchPresage } from "../../support/presage/spawn-presage.ts";
import { datasetClient, toLines } from "../../support/resources/datasets.ts";
import { onAnyDatabase } from "../../support/store/databases.ts";
import { openStore } from "../../support/store/open-store.ts";

const linesAtOnce = 500;

/** Endless lines, for as long as the other side reads them. */
function endlessLines(): ReadableStream<Uint8Array> {
  let step = 0;
  return new ReadableStream({
    async pull(controller) {
      const lines = Array.from({ length: linesAtOnce }, () => {
        step += 1;
        return { trajectory_id: "t", step, interaction: { state: "s", action: "a" }, next_state: "n" };
      });
      controller.enqueue(new TextEncoder().encode(toLines(lines)));
      await sleep(5);
    },
  });
}

onAnyDatabase((database) => {
  test("an upload whose server is killed, or whose client leaves, leaves nothing visible and is swept", async () => {
    const databaseUrl = await database.create();
    const environment = { PRESAGE_DATABASE_URL: databaseUrl, PRESAGE_LOG_LEVEL: "warn" };
    const countSamples = async () => {
      await using store = await openStore(databaseUrl);
      const { count } = await store.database
        .selectFrom("dataset_samples")
        .select((of) => of.fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow();
      return Number(count);
    };

    const killed = await launchPresage(environment);
    await eventually(
      () => killed.call("GET", "/ready").catch(() => undefined),
      (response) => response?.status === 200,
    );
    const first = datasetClient(killed);
    const id = await first.create();
    const upload = first.upload(id, endlessLines()).catch(() => undefined);
    await eventually(countSamples, (count) => count > linesAtOnce);
    killed.kill("SIGKILL");
    await Promise.all([killed.exited, upload]);

    await using restarted = await launchPresage(environment);
    await eventually(
      () => restarted.call("GET", "/ready").catch(() => undefined),
      (response) => response?.status === 200,
    );
    const { read, uploadNew } = datasetClient(restarted);
    expect((await read(`${id}/revisions`)).body).toEqual({ data: [], next: null });
    expect((await read(`${id}/samples`)).status).toBe(404);
    // The upload may belong to another process that is only slow.
    expect(await countSamples()).toBeGreaterThan(linesAtOnce);
    await using store = await openStore(databaseUrl);
    await store.database.updateTable("dataset_revisions").set({ touched_at: 0 }).execute();
    await sweepRevisions(store.database, new AbortController().signal);
    expect(await countSamples()).toBe(0);
    expect(await uploadNew(id, [line()])).toMatchObject({ revision: 1 });

    const leaving = new AbortController();
    const left = fetch(`${restarted.url}/v1/datasets/${id}/revisions`, {
      method: "POST",
      headers: { "x-api-key": "bootstrap-key-of-the-tests-0123456789" },
      body: endlessLines(),
      signal: leaving.signal,
    }).catch(() => undefined);
    await eventually(countSamples, (count) => count > linesAtOnce);
    leaving.abort();
    await left;
    expect(await eventually(countSamples, (count) => count === 1)).toBe(1);
    expect((await read(`${id}/revisions`)).body.data).toHaveLength(1);
  });
});

function line(): object {
  return { trajectory_id: "t", step: 0, interaction: { state: "s", action: "a" }, next_state: "n" };
}
