import { sql } from "kysely";
import { type DeletedBatch, inTimedTransaction } from "../platform/storage/batches.ts";
import { selectClosed } from "../platform/storage/closed-accounts-store.ts";
import { type Micros, microsPerHour } from "../platform/storage/columns.ts";
import type {
  LatencyMeasure,
  UsageCountsTable,
  UsageLatenciesTable,
  UsageModelTokensTable,
} from "../platform/storage/schema/accounts.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { UsageTotals } from "./collect-usage.ts";
import type { BucketCounts } from "./latency.ts";

/** Rows or ids of one statement; databases limit its parameters. */
const maxPerStatement = 1_000;

/** Adds to the counts of each hour, in one transaction, but for accounts that are closed. */
export async function writeUsage(database: Database, batch: ReadonlyMap<string, UsageTotals>): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const totals = [...batch.values()];
    const closed = await selectClosed(
      transaction,
      totals.map(({ accountId }) => accountId),
    );
    const open = totals.filter(({ accountId }) => !closed.has(accountId));
    const { counts, modelTokens, latencies } = toUsageRows(open);
    for (const some of inChunks(counts)) await addCounts(transaction, some);
    for (const some of inChunks(modelTokens)) await addModelTokens(transaction, some);
    for (const some of inChunks(latencies)) await addLatencies(transaction, some);
  });
}

/** The rows that totals add to, in the same order in every process, so that no two can deadlock. */
export function toUsageRows(allTotals: readonly UsageTotals[]): {
  counts: UsageCountsTable[];
  modelTokens: UsageModelTokensTable[];
  latencies: UsageLatenciesTable[];
} {
  return {
    counts: sorted(sumCounts(allTotals)),
    modelTokens: sorted(sumModelTokens(allTotals)),
    latencies: sorted(sumLatencies(allTotals)),
  };
}

/** Requests and tokens of all models together. */
function sumCounts(allTotals: readonly UsageTotals[]): UsageCountsTable[] {
  const rows = new Map<string, UsageCountsTable>();
  for (const totals of allTotals) {
    const { accountId, hour, keyId = "", operation, failure = "" } = totals;
    const name = `${accountId} ${hour} ${keyId} ${operation} ${failure}`;
    const row = rows.get(name) ?? {
      account_id: accountId,
      hour,
      key_id: keyId,
      operation,
      outcome: failure,
      requests: 0,
      prompt_tokens: 0,
      completion_tokens: 0,
      cached_tokens: 0,
    };
    rows.set(name, row);
    row.requests += totals.requests;
    row.prompt_tokens += totals.promptTokens;
    row.completion_tokens += totals.completionTokens;
    row.cached_tokens += totals.cachedTokens;
  }
  return [...rows.values()];
}

/** Tokens of each model, whatever became of the requests. */
function sumModelTokens(allTotals: readonly UsageTotals[]): UsageModelTokensTable[] {
  const rows = new Map<string, UsageModelTokensTable>();
  for (const totals of allTotals) {
    const { accountId, hour, keyId = "", operation, model } = totals;
    if (model === undefined || totals.promptTokens + totals.completionTokens === 0) continue;
    const name = `${accountId} ${hour} ${keyId} ${operation} ${model}`;
    const row = rows.get(name) ?? {
      account_id: accountId,
      hour,
      key_id: keyId,
      operation,
      model,
      prompt_tokens: 0,
      completion_tokens: 0,
      upstream_cached_tokens: 0,
    };
    rows.set(name, row);
    row.prompt_tokens += totals.promptTokens;
    row.completion_tokens += totals.completionTokens;
    row.upstream_cached_tokens += totals.upstreamCachedTokens;
  }
  return [...rows.values()];
}

/** Latencies are counted for an account, not for each key. */
function sumLatencies(allTotals: readonly UsageTotals[]): UsageLatenciesTable[] {
  const rows = new Map<string, UsageLatenciesTable>();

  function add({ accountId, hour }: UsageTotals, measure: LatencyMeasure, buckets: BucketCounts): void {
    for (const [bucket, count] of buckets) {
      const name = `${accountId} ${hour} ${measure} ${bucket}`;
      const row = rows.get(name);
      if (row !== undefined) row.count += count;
      else rows.set(name, { account_id: accountId, hour, measure, bucket, count });
    }
  }

  for (const totals of allTotals) {
    add(totals, "total", totals.totalLatencies);
    add(totals, "overhead", totals.overheadLatencies);
  }
  return [...rows.values()];
}

/** By all columns, those of the primary key first. */
function sorted<Row extends object>(rows: readonly Row[]): Row[] {
  const named = rows.map((row) => ({ row, name: Object.values(row).join(" ") }));
  return named.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ row }) => row);
}

async function addCounts(transaction: Database, rows: readonly UsageCountsTable[]): Promise<void> {
  await transaction
    .insertInto("usage_counts")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(["account_id", "hour", "key_id", "operation", "outcome"]).doUpdateSet((row) => ({
        requests: row("usage_counts.requests", "+", row.ref("excluded.requests")),
        prompt_tokens: row("usage_counts.prompt_tokens", "+", row.ref("excluded.prompt_tokens")),
        completion_tokens: row("usage_counts.completion_tokens", "+", row.ref("excluded.completion_tokens")),
        cached_tokens: row("usage_counts.cached_tokens", "+", row.ref("excluded.cached_tokens")),
      })),
    )
    .execute();
}

async function addModelTokens(transaction: Database, rows: readonly UsageModelTokensTable[]): Promise<void> {
  await transaction
    .insertInto("usage_model_tokens")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(["account_id", "hour", "key_id", "operation", "model"]).doUpdateSet((row) => ({
        prompt_tokens: row("usage_model_tokens.prompt_tokens", "+", row.ref("excluded.prompt_tokens")),
        completion_tokens: row(
          "usage_model_tokens.completion_tokens",
          "+",
          row.ref("excluded.completion_tokens"),
        ),
        upstream_cached_tokens: row(
          "usage_model_tokens.upstream_cached_tokens",
          "+",
          row.ref("excluded.upstream_cached_tokens"),
        ),
      })),
    )
    .execute();
}

async function addLatencies(transaction: Database, rows: readonly UsageLatenciesTable[]): Promise<void> {
  await transaction
    .insertInto("usage_latencies")
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(["account_id", "hour", "measure", "bucket"])
        .doUpdateSet((row) => ({ count: row("usage_latencies.count", "+", row.ref("excluded.count")) })),
    )
    .execute();
}

/** An account's requests and tokens of one step, key, operation and outcome. */
export type CountsOfStep = Awaited<ReturnType<typeof selectCounts>>[number];
/** The same of one model in place of an outcome. */
export type ModelTokens = Awaited<ReturnType<typeof selectModelTokens>>[number];

/** A period and the steps in which it is reported. Hours are counted since 1970-01-01 UTC. */
export interface UsagePeriod {
  /** The start of a step. */
  fromHour: number;
  /** Exclusive. */
  untilHour: number;
  hoursPerStep: number;
}

/** The start of the step that an hour is in. No hour before 1970 is stored. */
function stepOf({ hoursPerStep }: UsagePeriod) {
  return sql<number>`hour - hour % ${sql.lit(hoursPerStep)}`;
}

/** An account's counts by step, key, operation and outcome, sorted in this order, at most `limit`. */
export async function selectCounts(
  reader: Database,
  accountId: string,
  period: UsagePeriod,
  keyId: string | undefined,
  limit: number,
) {
  const start = stepOf(period);
  let query = reader
    .selectFrom("usage_counts")
    .select([start.as("start_hour"), "key_id", "operation", "outcome"])
    .select((row) => [
      row.fn.sum<number>("requests").as("requests"),
      row.fn.sum<number>("prompt_tokens").as("prompt_tokens"),
      row.fn.sum<number>("completion_tokens").as("completion_tokens"),
      row.fn.sum<number>("cached_tokens").as("cached_tokens"),
    ])
    .where("account_id", "=", accountId)
    .where("hour", ">=", period.fromHour)
    .where("hour", "<", period.untilHour)
    .groupBy([start, "key_id", "operation", "outcome"])
    .orderBy(start)
    .orderBy("key_id")
    .orderBy("operation")
    .orderBy("outcome")
    .limit(limit);
  if (keyId !== undefined) query = query.where("key_id", "=", keyId);
  return await query.execute();
}

/** An account's tokens of these models, or of all, by step, key, operation and model, at most `limit`. */
export async function selectModelTokens(
  reader: Database,
  accountId: string,
  period: UsagePeriod,
  keyId: string | undefined,
  models: readonly string[] | undefined,
  limit: number,
) {
  const start = stepOf(period);
  let query = reader
    .selectFrom("usage_model_tokens")
    .select([start.as("start_hour"), "key_id", "operation", "model"])
    .select((row) => [
      row.fn.sum<number>("prompt_tokens").as("prompt_tokens"),
      row.fn.sum<number>("completion_tokens").as("completion_tokens"),
      row.fn.sum<number>("upstream_cached_tokens").as("upstream_cached_tokens"),
    ])
    .where("account_id", "=", accountId)
    .where("hour", ">=", period.fromHour)
    .where("hour", "<", period.untilHour)
    .groupBy([start, "key_id", "operation", "model"])
    .limit(limit);
  if (models !== undefined) query = query.where("model", "in", models);
  if (keyId !== undefined) query = query.where("key_id", "=", keyId);
  return await query.execute();
}

/** An account's latencies: how many fell into each bucket, by step and measure, oldest step first. */
export async function selectLatencies(reader: Database, accountId: string, period: UsagePeriod) {
  const start = stepOf(period);
  return await reader
    .selectFrom("usage_latencies")
    .select([start.as("start_hour"), "measure", "bucket"])
    .select((row) => row.fn.sum<number>("count").as("count"))
    .where("account_id", "=", accountId)
    .where("hour", ">=", period.fromHour)
    .where("hour", "<", period.untilHour)
    .groupBy([start, "measure", "bucket"])
    .orderBy(start)
    .execute();
}

export function inChunks<Item>(items: readonly Item[]): Item[][] {
  const chunks = Math.ceil(items.length / maxPerStatement);
  return Array.from({ length: chunks }, (_, chunk) =>
    items.slice(chunk * maxPerStatement, (chunk + 1) * maxPerStatement),
  );
}

const usageTables = ["usage_counts", "usage_model_tokens", "usage_latencies"] as const;

/** The first hour in which an account used anything. */
async function selectFirstHour(database: Database, accountId: string): Promise<number | undefined> {
  const hours: number[] = [];
  for (const table of usageTables) {
    const row = await database
      .selectFrom(table)
      .select("hour")
      .where("account_id", "=", accountId)
      .orderBy("account_id")
      .orderBy("hour")
      .limit(1)
      .executeTakeFirst();
    if (row !== undefined) hours.push(row.hour);
  }
  return hours.length === 0 ? undefined : Math.min(...hours);
}

/** Deletes an account's usage from before an hour. Returns the number of rows. */
async function deleteUsageBefore(
  transaction: Database,
  accountId: string,
  untilHour: number,
): Promise<number> {
  let deleted = 0;
  for (const table of usageTables) {
    const { numDeletedRows } = await transaction
      .deleteFrom(table)
      .where("account_id", "=", accountId)
      .where("hour", "<", untilHour)
      .executeTakeFirstOrThrow();
    deleted += Number(numDeletedRows);
  }
  return deleted;
}

/** A rough guess, from which batches find their size. */
const rowsPerHour = 10;

/** Deletes some of an account's usage from before a time: whole hours, the oldest first. */
export async function deleteOldUsage(
  database: Database,
  { accountId, before }: { accountId: string; before: Micros },
  limit: number,
): Promise<DeletedBatch<true>> {
  const endHour = Math.floor(before / microsPerHour);
  const first = await selectFirstHour(database, accountId);
  if (first === undefined || first >= endHour) return { deleted: 0, heldMs: 0, next: undefined };
  const untilHour = Math.min(first + Math.ceil(limit / rowsPerHour), endHour);
  const { result, heldMs } = await inTimedTransaction(database, (transaction) =>
    deleteUsageBefore(transaction, accountId, untilHour),
  );
  return { deleted: result, heldMs, next: true };
}
