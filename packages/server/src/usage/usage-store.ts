import { sql } from "kysely";
import { type DeletedBatch, inTimedTransaction } from "../platform/storage/batches.ts";
import { selectClosed } from "../platform/storage/closed-accounts-store.ts";
import { type Micros, microsPerHour } from "../platform/storage/columns.ts";
import { insertRows } from "../platform/storage/rows.ts";
import type {
  LatencyMeasure,
  UsageCountsTable,
  UsageLatenciesTable,
  UsageModelTokensTable,
} from "../platform/storage/schema/accounts.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { inParts } from "../platform/words.ts";
import type { BucketCounts, UsageTotals } from "./collect-usage.ts";

/** The most ids in one statement; databases limit its parameters. */
const maxIds = 1_000;

/** Whose requests are counted under an id: a key's, or those of a user's sessions. */
export interface Holder {
  userId: string;
  userName: string | null;
  /** Undefined for sessions. */
  key: { name: string; prefix: string; last_four: string; revoked_at: Micros | null } | undefined;
}

/** The holders with these ids that the account still has. */
export async function selectHolders(
  reader: Database,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Holder>> {
  const wanted = ids.filter((id) => id !== "");
  const found = [...inParts(wanted, maxIds)].map(async (some) => {
    const keys = await reader
      .selectFrom("api_keys")
      .innerJoin("users", "users.id", "api_keys.user_id")
      .select(["api_keys.id", "api_keys.name as keyName", "prefix", "last_four", "revoked_at"])
      .select(["users.id as userId", "users.name", "users.email"])
      .where("api_keys.id", "in", some)
      .where("users.account_id", "=", accountId)
      .execute();
    const users = await reader
      .selectFrom("users")
      .select(["id", "id as userId", "name", "email"])
      .where("id", "in", some)
      .where("account_id", "=", accountId)
      .execute();
    return [
      ...keys.map(({ id, userId, name, email, keyName, ...rest }) => ({
        id,
        userId,
        name,
        email,
        key: { name: keyName, ...rest },
      })),
      ...users.map((user) => ({ ...user, key: undefined })),
    ];
  });
  const holders = (await Promise.all(found)).flat();
  return new Map(
    holders.map(({ id, userId, name, email, key }) => [id, { userId, userName: name ?? email, key }]),
  );
}

/** Adds to the counts of each hour in one transaction, except for closed accounts. */
export async function writeUsage(database: Database, batch: ReadonlyMap<string, UsageTotals>): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const totals = [...batch.values()];
    const closed = await selectClosed(
      transaction,
      totals.map(({ accountId }) => accountId),
    );
    const open = totals.filter(({ accountId }) => !closed.has(accountId));
    const { counts, modelTokens, latencies } = toUsageRows(open);
    await insertRows(transaction, "usage_counts", counts, adding("usage_counts"));
    await insertRows(transaction, "usage_model_tokens", modelTokens, adding("usage_model_tokens"));
    await insertRows(transaction, "usage_latencies", latencies, adding("usage_latencies"));
  });
}

/** The columns that are added up in each table; its other columns are its key. */
const figures = {
  usage_counts: ["requests", "prompt_tokens", "completion_tokens", "cached_tokens", "example_tokens"],
  usage_model_tokens: ["prompt_tokens", "completion_tokens", "upstream_cached_tokens"],
  usage_latencies: ["count"],
} as const;
const keys = {
  usage_counts: "account_id, hour, key_id, operation, outcome",
  usage_model_tokens: "account_id, hour, key_id, operation, model",
  usage_latencies: "account_id, hour, measure, bucket",
};

function adding(table: keyof typeof figures): string {
  const sums = figures[table].map((name) => `${name} = ${table}.${name} + excluded.${name}`);
  return `on conflict (${keys[table]}) do update set ${sums.join(", ")}`;
}

/** The rows that totals add to, in the same order in every process, so that no two can deadlock. */
export function toUsageRows(allTotals: readonly UsageTotals[]): {
  counts: UsageCountsTable[];
  modelTokens: UsageModelTokensTable[];
  latencies: UsageLatenciesTable[];
} {
  return {
    counts: summed(allTotals.map(toCounts), figures.usage_counts),
    modelTokens: summed(allTotals.flatMap(toModelTokens), figures.usage_model_tokens),
    latencies: summed(allTotals.flatMap(toLatencies), figures.usage_latencies),
  };
}

/** Requests and tokens of all models together. */
function toCounts({ accountId, hour, keyId = "", operation, failure, ...of }: UsageTotals): UsageCountsTable {
  return {
    account_id: accountId,
    hour,
    key_id: keyId,
    operation,
    outcome: failure ?? "",
    requests: of.requests,
    prompt_tokens: of.promptTokens,
    completion_tokens: of.completionTokens,
    cached_tokens: of.cachedTokens,
    example_tokens: of.exampleTokens,
  };
}

/** Tokens of a model, whatever the outcome of the requests. */
export function toModelTokens({
  accountId,
  hour,
  keyId = "",
  operation,
  model,
  ...of
}: UsageTotals): UsageModelTokensTable[] {
  if (model === undefined || of.promptTokens + of.completionTokens === 0) return [];
  const key = { account_id: accountId, hour, key_id: keyId, operation, model };
  const tokens = { prompt_tokens: of.promptTokens, completion_tokens: of.completionTokens };
  return [{ ...key, ...tokens, upstream_cached_tokens: of.upstreamCachedTokens }];
}

/** A row's tokens in the form that prices apply to. */
export function toAskedTokens({
  prompt_tokens,
  completion_tokens,
  upstream_cached_tokens,
}: Pick<UsageModelTokensTable, (typeof figures)["usage_model_tokens"][number]>) {
  return {
    promptTokens: prompt_tokens,
    completionTokens: completion_tokens,
    upstreamCachedTokens: upstream_cached_tokens,
  };
}

/** Latencies are counted for an account, not for each key. */
function toLatencies({
  accountId,
  hour,
  totalLatencies,
  overheadLatencies,
}: UsageTotals): UsageLatenciesTable[] {
  const rowsOf = (measure: LatencyMeasure, buckets: BucketCounts) =>
    Array.from(buckets, ([bucket, count]) => ({ account_id: accountId, hour, measure, bucket, count }));
  return [...rowsOf("total", totalLatencies), ...rowsOf("overhead", overheadLatencies)];
}

/** One row for each key, in the order of keys. */
function summed<Row extends object, Figure extends keyof Row>(
  rows: readonly Row[],
  names: readonly Figure[],
): Row[] {
  const isOfKey = ([name]: [string, unknown]) => !names.some((figure) => figure === name);
  const keyOf = (row: Row) =>
    Object.entries(row)
      .filter(isOfKey)
      .map(([, value]) => value)
      .join(" ");
  const byKey = [...Map.groupBy(rows, keyOf)].sort(([a], [b]) => (a < b ? -1 : 1));
  return byKey.flatMap(([, [first, ...others]]) => {
    if (first === undefined) return [];
    const sums = names.map((name) => [
      name,
      others.reduce((sum, row) => sum + Number(row[name]), Number(first[name])),
    ]);
    return [{ ...first, ...Object.fromEntries(sums) }];
  });
}

/** An account's requests and tokens of one step, key, operation and outcome. */
export type CountsOfStep = Awaited<ReturnType<typeof selectCounts>>[number];
/** The same, by model instead of outcome. */
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

/** The sums of a table's figures, to be selected. */
export function sumsOf<Table extends keyof typeof figures>(table: Table) {
  const names: readonly (typeof figures)[Table][number][] = figures[table];
  return names.map((name) => sql<number>`sum(${sql.ref(name)})`.as(name));
}

export interface UsageFilter {
  accountId: string;
  period: UsagePeriod;
  /** Absent: all keys. */
  keyId?: string | undefined;
}

/** An account's counts by step, key, operation and outcome, sorted in this order, at most `limit`. */
export async function selectCounts(
  reader: Database,
  { accountId, period, keyId }: UsageFilter,
  limit: number,
) {
  const start = stepOf(period);
  let query = reader
    .selectFrom("usage_counts")
    .select([start.as("start_hour"), "key_id", "operation", "outcome"])
    .select(sumsOf("usage_counts"))
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
  { accountId, period, keyId, models }: UsageFilter & { models?: readonly string[] },
  limit: number,
) {
  const start = stepOf(period);
  let query = reader
    .selectFrom("usage_model_tokens")
    .select([start.as("start_hour"), "key_id", "operation", "model"])
    .select(sumsOf("usage_model_tokens"))
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
    .select(sumsOf("usage_latencies"))
    .where("account_id", "=", accountId)
    .where("hour", ">=", period.fromHour)
    .where("hour", "<", period.untilHour)
    .groupBy([start, "measure", "bucket"])
    .orderBy(start)
    .execute();
}

const usageTables = Object.keys(figures) as (keyof typeof figures)[];

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

/** A rough guess that the first batch's size is based on. */
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
  const { result: deleted, heldMs } = await inTimedTransaction(database, async (transaction) => {
    let rows = 0;
    for (const table of usageTables) {
      const { numDeletedRows } = await transaction
        .deleteFrom(table)
        .where("account_id", "=", accountId)
        .where("hour", "<", untilHour)
        .executeTakeFirstOrThrow();
      rows += Number(numDeletedRows);
    }
    return rows;
  });
  return { deleted, heldMs, next: true };
}
