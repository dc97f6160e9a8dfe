import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { spawnPresage } from "../../support/presage/spawn-presage.ts";
import { datasetClient } from "../../support/resources/datasets.ts";
import { runClient } from "../../support/resources/runs.ts";
import { makeFixtures, openLedger } from "../../support/store/change-ledger.ts";
import { connectTo, type PostgresServer, startPostgres } from "../../support/store/postgres.ts";
import { completion } from "../../support/upstream/upstream.ts";
import { useUpstream } from "../../support/upstream/use-upstream.ts";

const upstream = useUpstream();
let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
}, 300_000);
afterAll(() => postgres.remove(), 60_000);

const samples = Array.from({ length: 100 }, (_, step) => ({
  trajectory_id: "t",
  step,
  interaction: { state: `state ${step}`, action: "go on" },
  next_state: "next",
}));

/** What a run's row says about the process that works on it; undefined if the database is unavailable. */
async function readLease(url: string) {
  const client = await connectTo(url).catch(() => undefined);
  if (client === undefined) return undefined;
  const { rows } = await client.query<{ id: string | null; until: number; now: number }>(
    `select lease_id as id, lease_until::float8 as until, extract(epoch from now())::float8 * 1e6 as now from runs`,
  );
  await client.end();
  return rows[0];
}

test.each(["stop", "crash"] as const)(
  "of a PostgreSQL that begins again after a %s no answered change is missing, and a run goes on before its lease has run out",
  async (end) => {
    const url = await postgres.createDatabase();
    const operator = await connectTo(url);
    // A crash loses data that is not in the log.
    await operator.query(`alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = on`);
    await operator.end();
    await using presage = await spawnPresage({
      PRESAGE_DATABASE_URL: url,
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_UPSTREAM_MODEL: "test-model",
    });
    let gate = Promise.withResolvers<void>();
    upstream.answer = async () => {
      await gate.promise;
      return Response.json(completion("next"));
    };
    const dataset_id = await datasetClient(presage).create();
    await datasetClient(presage).uploadNew(dataset_id, samples);
    const { id } = await runClient(presage).create({
      dataset_id,
      target: { deployment: "default" },
      concurrency: 4,
    });
    const ledger = openLedger(presage, await makeFixtures(presage));
    const stopAsking = ledger.askUntilStopped(50);
    await eventually(
      async () => ledger.entries.length,
      (count) => count > 20,
    );
    const before = await eventually(
      () => readLease(url),
      (lease) => lease?.id != null,
    );

    await postgres[end]();
    // Answers that arrive now cannot be stored.
    gate.resolve();
    gate = Promise.withResolvers();
    await eventually(
      async () => ledger.entries.at(-1)?.status,
      (status) => status === 503,
    );
    await Bun.sleep(500);
    await postgres.start();
    const after = await eventually(
      () => readLease(url),
      (lease) => lease?.id != null && lease.id !== before?.id,
      60_000,
    );
    expect(after?.now).toBeLessThan(before?.until ?? 0);
    gate.resolve();
    expect(await runClient(presage).end(id)).toMatchObject({
      status: "finished",
      progress: { predicted: samples.length, evaluated: samples.length, failed: 0 },
    });
    await stopAsking();
    expect(await ledger.contradictions(url)).toEqual([]);
  },
  120_000,
);
