import { sql } from "kysely";
import { databaseNow } from "../../platform/storage/clock.ts";
import { refuseClosedAccounts } from "../../platform/storage/closed-accounts-store.ts";
import { type Micros, microsPerDay, toFlag } from "../../platform/storage/columns.ts";
import { insertRows } from "../../platform/storage/rows.ts";
import type {
  CountedVerdict,
  EvaluationCountsTable,
  EvaluationResultsTable,
  EvaluationSeriesTable,
} from "../../platform/storage/schema/results.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import { toThousandths } from "../result.ts";

export const countableColumns = [
  "id",
  "account_id",
  "created_at",
  "app",
  "evaluator_id",
  "evaluator_family",
  "profile_name",
  "profile_public_id",
  "profile_revision",
  "run_id",
  "status",
  "counted_pass",
  "counted_score",
] as const;

/** What the rollup needs to know about a result: the verdict that counts, and none of its texts. */
export type Countable = Pick<EvaluationResultsTable, (typeof countableColumns)[number]>;

/** An account's result, locked until the transaction ends, and the time. */
export async function lockResult(
  transaction: Database,
  accountId: string,
  id: number,
): Promise<(Countable & { now: Micros }) | undefined> {
  const query = transaction
    .selectFrom("evaluation_results")
    .select(countableColumns)
    .select(databaseNow(transaction).as("now"))
    .where("id", "=", id)
    .where("account_id", "=", accountId);
  // On SQLite there is one writer at a time.
  return await (isPostgres(transaction) ? query.forUpdate() : query).executeTakeFirst();
}

/** Namespace of series ids; any fixed UUID would do. */
const seriesNamespace = "5d0cf7a4-3c4b-4d5e-9b0a-6a4f6f1f2c11";

export interface Counted {
  series: EvaluationSeriesTable[];
  counts: EvaluationCountsTable[];
}

/** The verdict as the rollup spells it. */
function verdictOf({ status, counted_pass }: Countable): CountedVerdict {
  if (status !== "success") return status;
  if (counted_pass === null) return "none";
  return counted_pass === 1 ? "pass" : "fail";
}

/** The fields that distinguish series. */
type Dimensions = Omit<Countable, "id" | "created_at" | "status" | "counted_pass" | "counted_score">;

/** The series that results will be counted in. */
export function seriesOf(results: readonly Dimensions[]): EvaluationSeriesTable[] {
  const series = new Map<string, EvaluationSeriesTable>();
  for (const result of results) {
    for (const spansRuns of [true, false]) addSeriesOf(series, result, spansRuns);
  }
  return [...series.values()];
}

/** What results add to the rollup. */
export function countResults(results: readonly Countable[]): Counted {
  const series = new Map<string, EvaluationSeriesTable>();
  const counts = new Map<string, EvaluationCountsTable>();
  for (const result of results) {
    for (const spansRuns of [true, false]) addOne(counts, addSeriesOf(series, result, spansRuns).id, result);
  }
  return { series: [...series.values()], counts: [...counts.values()] };
}

function addOne(counts: Map<string, EvaluationCountsTable>, seriesId: string, result: Countable): void {
  const cell = {
    series_id: seriesId,
    day: Math.floor(result.created_at / microsPerDay),
    verdict: verdictOf(result),
    score_mille: result.counted_score === null ? -1 : toThousandths(result.counted_score),
  };
  const key = `${cell.series_id} ${cell.day} ${cell.verdict} ${cell.score_mille}`;
  const count = counts.get(key) ?? { ...cell, count: 0, score_sum: 0, score_sum_of_squares: 0 };
  const score = result.counted_score ?? 0;
  count.count += 1;
  count.score_sum += score;
  count.score_sum_of_squares += score * score;
  counts.set(key, count);
}

function addSeriesOf(known: Map<string, EvaluationSeriesTable>, result: Dimensions, spansRuns: boolean) {
  const dimensions = {
    account_id: result.account_id,
    app: result.app,
    evaluator_id: result.evaluator_id,
    evaluator_family: result.evaluator_family ?? "",
    profile_name: result.profile_name ?? "",
    profile_public_id: result.profile_public_id ?? "",
    profile_revision: result.profile_revision ?? 0,
    spans_runs: toFlag(spansRuns),
    run_id: spansRuns ? "" : (result.run_id ?? ""),
  };
  const key = keyOf(dimensions);
  const series = known.get(key) ?? { id: seriesIdOf(dimensions), ...dimensions };
  known.set(key, series);
  return series;
}

/** The id follows from the dimensions, so that processes need not agree on it. */
export function seriesIdOf(dimensions: Omit<EvaluationSeriesTable, "id">): string {
  return Bun.randomUUIDv5(keyOf(dimensions), seriesNamespace);
}

function keyOf(dimensions: Omit<EvaluationSeriesTable, "id">): string {
  return JSON.stringify([
    dimensions.account_id,
    dimensions.app,
    dimensions.evaluator_id,
    dimensions.evaluator_family,
    dimensions.profile_name,
    dimensions.profile_public_id,
    dimensions.profile_revision,
    dimensions.spans_runs,
    dimensions.run_id,
  ]);
}

/** Adds to the rollup, including missing series. Negative counts subtract. */
export async function addCounted(transaction: Database, { series, counts }: Counted): Promise<void> {
  await addSeries(transaction, series);
  await addCounts(transaction, counts);
}

/** Always in one order, to avoid deadlocks between writers that insert the same series. */
export async function addSeries(database: Database, series: readonly EvaluationSeriesTable[]): Promise<void> {
  const sorted = series.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  await insertRows(database, "evaluation_series", sorted, "on conflict (id) do nothing");
}

/** Adds to the counts of existing series. */
export async function addCounts(transaction: Database, counts: readonly EvaluationCountsTable[]) {
  if (isPostgres(transaction)) await insertRows(transaction, "evaluation_count_deltas", counts);
  else await insertRows(transaction, "evaluation_counts", counts, addToCounts);
}

const addToCounts = `on conflict (series_id, day, verdict, score_mille) do update set
  count = count + excluded.count,
  score_sum = score_sum + excluded.score_sum,
  score_sum_of_squares = score_sum_of_squares + excluded.score_sum_of_squares`;

/** Each run has its own series, so their number is unbounded. */
const maxKnown = 10_000;
/** A database restored from a backup may lack series that were known to exist. */
const knownForMs = 60_000;

export interface SeriesMemory {
  /** Ensures that series exist before results are counted in them. */
  ensure(series: readonly EvaluationSeriesTable[]): Promise<void>;
  /** Called for series that were deleted. */
  forget(series: readonly EvaluationSeriesTable[]): void;
}

/**
 * Ensures that series exist, and remembers which do. On PostgreSQL that happens outside the writers' transactions: a writer waits for
 * another that inserts the same series, and this transaction is short.
 */
export function createSeriesMemory(database: Database): SeriesMemory {
  const known = new Set<string>();
  let knownSinceMs = 0;
  return {
    async ensure(series) {
      if (known.size > maxKnown || performance.now() - knownSinceMs > knownForMs) {
        known.clear();
        knownSinceMs = performance.now();
      }
      const unknown = series.filter(({ id }) => !known.has(id));
      if (unknown.length === 0) return;
      await database.transaction().execute(async (transaction) => {
        const accountIds = unknown.map(({ account_id }) => account_id);
        await refuseClosedAccounts(transaction, accountIds);
        await addSeries(transaction, unknown);
      });
      for (const { id } of unknown) known.add(id);
    },
    forget(series) {
      for (const { id } of series) known.delete(id);
    },
  };
}

/**
 * Whether all series exist and none of their accounts is closed, on PostgreSQL. It is one statement and locks the table for reading,
 * so that no series is deleted before the transaction ends: erasing an account first closes it, then waits for that lock.
 */
export async function haveOpenSeries(transaction: Database, series: readonly EvaluationSeriesTable[]) {
  const accountIds = [...new Set(series.map(({ account_id }) => account_id))];
  const { rows } = await sql<{ closed: boolean; existing: number }>`
    select exists (select 1 from closed_accounts where account_id = any(${accountIds}::text[])) as closed,
      (select count(*)::int from evaluation_series where id = any(${series.map(({ id }) => id)}::text[])) as existing`.execute(
    transaction,
  );
  return rows.every(({ closed, existing }) => !closed && existing === series.length);
}

/** What the rollup loses and gains when results are counted differently than before. */
export function recount(from: readonly Countable[], to: readonly Countable[]): Counted {
  const [lost, gained] = [countResults(from), countResults(to)];
  const takenAway = lost.counts.map((cell) => ({
    ...cell,
    count: -cell.count,
    score_sum: -cell.score_sum,
    score_sum_of_squares: -cell.score_sum_of_squares,
  }));
  return { series: gained.series, counts: [...takenAway, ...gained.counts] };
}
