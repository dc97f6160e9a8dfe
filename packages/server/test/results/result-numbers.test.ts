import { afterAll, beforeAll, expect, test } from "bun:test";
import { EvaluateResponse } from "@presage/contract";
import { type ControlledTransaction, sql } from "kysely";
import type { Draw } from "../../../../fuzz/generate/draw.ts";
import type { Database, Tables } from "../../src/platform/storage/schema/tables.ts";
import { toRows } from "../../src/results/result.ts";
import { addSeries, seriesOf } from "../../src/results/write/counts-store.ts";
import { mergeCounts } from "../../src/results/write/merge-counts.ts";
import { takeNumbers } from "../../src/results/write/results-store.ts";
import { addResults, numberRows } from "../../src/results/write/write-results.ts";
import { expectEventually } from "../support/eventually.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { seeded } from "../support/seeded.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { ordinaryResult } from "../support/store/store-results.ts";

const loadMs = process.env.PRESAGE_TEST_ALL === undefined ? 700 : 2_000;
const callers = 8;

onAnyDatabase((database) => {
  const isPostgres = database.name === "PostgreSQL";
  let databaseUrl: string;
  let one: SpawnedPresage;
  let other: SpawnedPresage;
  let store: Awaited<ReturnType<typeof openStore>>;
  const { search, searchAll, summary, importAll } = evaluationResultsClient(() => one);

  beforeAll(async () => {
    databaseUrl = await database.create();
    const environment = { PRESAGE_DATABASE_URL: databaseUrl };
    [one, other] = await Promise.all([spawnPresage(environment), spawnPresage(environment)]);
    store = await openStore(databaseUrl);
  }, 300_000);
  afterAll(async () => {
    await store.destroy();
    for (const server of [one, other]) await server?.[Symbol.asyncDispose]();
  });

  /** Evaluates until `untilMs`, and returns the ids of the responses. */
  async function evaluateIn(presage: SpawnedPresage, app: string, untilMs: number): Promise<number[]> {
    const ids: number[] = [];
    const caller = async () => {
      while (performance.now() < untilMs) {
        const response = await presage.call("POST", "/v1/evaluate", {
          evaluators: [{ evaluator: "exact-match" }],
          evaluated_model_output: "a",
          evaluated_model_gold_answer: "a",
          app,
        });
        expect(response.status).toBe(200);
        const { results } = EvaluateResponse.parse(await response.json());
        ids.push(Number(results[0]?.evaluation_result?.id));
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return ids;
  }

  /** Adds results in transactions that stay open for a while, like a slow writer. */
  async function addSlowly(draw: Draw, app: string, untilMs: number): Promise<number[]> {
    const ids: number[] = [];
    while (performance.now() < untilMs) {
      await store.database.transaction().execute(async (transaction) => {
        const added = await addOne(transaction, app);
        if (isPostgres) await Bun.sleep(draw.below(50));
        ids.push(added);
      });
      await Bun.sleep(10);
    }
    return ids;
  }

  async function addOne(transaction: Database, app: string): Promise<number> {
    const rows = toRows({ ...ordinaryResult, accountId: store.owner.account_id, metadata: { app } });
    // Outside the transaction, as the server does.
    if (isPostgres) await addSeries(store.database, seriesOf([rows.row]));
    const numbers = await takeNumbers(transaction, 1);
    numberRows([rows], numbers);
    await addResults(transaction, [rows], { hasSeries: isPostgres });
    return numbers.ids[0] ?? 0;
  }

  test(
    "A tail sees each result of concurrent writers exactly once, and the counts are always right",
    seeded(async (draw) => {
      const app = "tail";
      const untilMs = performance.now() + loadMs;
      let isOver = false;
      const seen: number[] = [];
      const tail = (async () => {
        for (;;) {
          const wasOver = isOver;
          const page = await search({
            app,
            order: "created_at",
            after_id: seen.at(-1) ?? 0,
            limit: 1000,
            text_limit: 1,
          });
          seen.push(...page.map(({ id }) => Number(id)));
          if (page.length === 0 && wasOver) return;
          await Bun.sleep(5);
        }
      })();
      const folds = (async () => {
        while (isPostgres && !isOver) {
          await Promise.all([mergeCounts(store.database), mergeCounts(store.database)]);
          expect(await countTwice(store.database)).toMatchObject({ differ: 0 });
          await Bun.sleep(5);
        }
      })();
      const answered = await Promise.all([
        evaluateIn(one, app, untilMs),
        evaluateIn(other, app, untilMs),
        addSlowly(draw, app, untilMs),
        addSlowly(draw, app, untilMs),
      ]);
      isOver = true;
      await Promise.all([tail, folds]);
      const ids = answered.flat().sort((a, b) => a - b);
      expect(ids.length).toBeGreaterThan(5);
      expect(seen).toEqual(ids);
      expect((await summary({ app })).groups).toMatchObject([{ count: ids.length, passed: ids.length }]);
    }),
  );

  test("Appended counts are folded within seconds", async () => {
    await importAll([{ evaluator_id: "theirs", app: "folded", pass: true, score_raw: 1 }]);
    const left = async () => {
      const { rows } = await sql<{ left: number }>`select (select count(*) from evaluation_count_deltas)
        + (select count(*) from evaluation_time_deltas) as "left"`.execute(store.database);
      return rows[0]?.left;
    };
    await expectEventually(left, 0);
    expect((await summary({ app: "folded" })).groups).toMatchObject([{ count: 1, passed: 1 }]);
  });

  if (!isPostgres) return;

  async function begin(): Promise<ControlledTransaction<Tables>> {
    return await store.database.startTransaction().execute();
  }

  test("A tail stops before an uncommitted result; newest first shows what is committed", async () => {
    const app = "out of order";
    await importAll([{ evaluator_id: "theirs", app, pass: true }]);
    const [first, second, third] = [await begin(), await begin(), await begin()];
    const early = await addOne(first, app);
    const middle = await addOne(second, app);
    const late = await addOne(third, app);
    await third.commit().execute();
    const upwards = async () => (await searchAll({ app, order: "created_at" }, 2)).slice(1);
    const behind = async () =>
      (await search({ app, after_id: early - 1 })).map(({ id }) => Number(id)).reverse();
    const newestFirst = async () => (await searchAll({ app }, 2)).slice(0, -1);
    expect([await upwards(), await behind(), await newestFirst()]).toEqual([[], [], [late]]);
    await first.commit().execute();
    expect([await upwards(), await behind()]).toEqual([[early], [early]]);
    expect(await newestFirst()).toEqual([late, early]);
    await second.rollback().execute();
    expect([await upwards(), await behind()]).toEqual([
      [early, late],
      [early, late],
    ]);
    expect(await newestFirst()).toEqual([late, early]);
    expect(middle).toBeLessThan(late);
  });

  test("A process that stops while holding numbers blocks no evaluations, corrections or summaries", async () => {
    const app = "stopped";
    const stopped = await begin();
    try {
      // The transaction stays open, so that those who wait for it are refused in the end.
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(stopped);
      await addOne(stopped, app);
      const startedAtMs = performance.now();
      const answered = await Promise.all(
        [one, other].map((presage) => evaluateIn(presage, app, startedAtMs + 500)),
      );
      const [id = 0] = answered.flat();
      const correction = await other.call("POST", `/v1/evaluation-results/${id}/correction`, { pass: false });
      expect(correction.status).toBe(201);
      const count = answered.flat().length;
      expect((await summary({ app })).groups).toMatchObject([{ count, passed: count - 1 }]);
    } finally {
      await stopped.rollback().execute();
    }
  });

  test("A process of the previous version takes consecutive numbers of the same sequence, and its results are found by time", async () => {
    const app = "before";
    const slow = await begin();
    const id = await addOne(slow, app);
    const now = Date.now() * 1000;
    // The exact statements of the server.
    const advance = (transaction: Database, results: number) =>
      transaction
        .updateTable("evaluation_clock")
        .set((row) => ({
          last_id: row("last_id", "+", results),
          last_created_at: row
            .case()
            .when("last_created_at", ">", now)
            .then(row.ref("last_created_at"))
            .else(now)
            .end(),
        }))
        .returning(["last_id", "last_created_at"])
        .executeTakeFirstOrThrow();
    const taken = await Promise.all(
      Array.from({ length: 20 }, () =>
        store.database.transaction().execute(async (transaction) => {
          const { last_id, last_created_at: createdAt } = await advance(transaction, 5);
          const ids = Array.from({ length: 5 }, (_, index) => last_id - 4 + index);
          const record = { ...ordinaryResult, accountId: store.owner.account_id, metadata: { app } };
          const results = ids.map(() => toRows(record));
          numberRows(results, { ids, createdAt });
          await addResults(transaction, results, { hasSeries: false });
          expect(createdAt).toBe(now);
          return ids;
        }),
      ),
    );
    const [unsettled] = await Promise.all([search({ app, order: "created_at" }), advance(store.database, 0)]);
    expect(unsettled).toEqual([]);
    await slow.commit().execute();
    const ids = [id, ...taken.flat()].sort((a, b) => a - b);
    expect(new Set(ids).size).toBe(101);
    expect(await searchAll({ app, order: "created_at" }, 50)).toEqual(ids);
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    expect(await searchAll({ app, order: "created_at", after_datetime: hourAgo }, 50)).toEqual(ids);
  });

  test("Counts of a missing series are kept until the series exists", async () => {
    await using fresh = await openStore(await database.create());
    const rows = toRows({ ...ordinaryResult, accountId: fresh.owner.account_id });
    await fresh.database.transaction().execute(async (transaction) => {
      const numbers = await takeNumbers(transaction, 1);
      numberRows([rows], numbers);
      await addResults(transaction, [rows], { hasSeries: true });
    });
    const left = async () =>
      (await fresh.database.selectFrom("evaluation_count_deltas").select("count").execute()).length;
    await mergeCounts(fresh.database);
    expect(await left()).toBe(2);
    await addSeries(fresh.database, seriesOf([rows.row]));
    await mergeCounts(fresh.database);
    expect(await left()).toBe(0);
    expect(await countTwice(fresh.database)).toMatchObject({ differ: 0 });
  });

  test(
    "Processes frozen under load do not block the others",
    seeded(async (draw) => {
      const app = "frozen";
      await using frozen = await spawnPresage({ PRESAGE_DATABASE_URL: databaseUrl });
      let caught = 0;
      for (let round = 0; round < 40 && caught < 2; round += 1) {
        const load = evaluateIn(frozen, app, performance.now() + 60);
        await Bun.sleep(20 + draw.below(30));
        frozen.kill("SIGSTOP");
        if ((await transactionsLeftOpen(store.database)) > 0) {
          const startedAtMs = performance.now();
          const [ids] = await Promise.all([
            evaluateIn(one, app, startedAtMs + 200),
            evaluateIn(other, app, startedAtMs + 200),
          ]);
          expect(ids.length).toBeGreaterThan(0);
          // Writers behind the frozen process wait until the database ends its session, after 4 s. A slow round proves nothing.
          if (performance.now() - startedAtMs < 2_500) caught += 1;
        }
        frozen.kill("SIGCONT");
        await load;
      }
      expect(caught).toBeGreaterThan(0);
    }),
  );
});

/** Compares rollup and results in one statement: a run's series and that of all runs each count a result once. */
async function countTwice(database: Database): Promise<unknown> {
  const { rows } = await sql`
    select coalesce(counted, 0) - 2 * (select count(*) from evaluation_results) as differ from (
      select sum(count) as counted from (
        select count from evaluation_counts union all select count from evaluation_count_deltas) as every_count) as counts`.execute(
    database,
  );
  return rows[0];
}

/** Sessions that are idle in a transaction. */
async function transactionsLeftOpen(database: Database): Promise<number> {
  const count = async () => {
    const { rows } = await sql<{ open: number }>`select count(*) as open from pg_stat_activity
      where state = 'idle in transaction' and datname = current_database()`.execute(database);
    return rows[0]?.open ?? 0;
  };
  // By the second count the server has finished what was still running.
  await count();
  await Bun.sleep(20);
  return await count();
}
