import { sql } from "kysely";
import type { Database } from "../storage/schema/tables.ts";
import type { UsageCountsTable, UsageLatenciesTable } from "../storage/schema/usage.ts";
import type { UsagePeriod } from "./usage-period.ts";
import { toUsageRows } from "./usage-rows.ts";
import type { UsageTally } from "./usage-totals.ts";

/** Rows or ids in one statement; databases bound its parameters. */
const mostAtOnce = 1_000;

/** Adds to what is counted already, in one transaction. */
export async function writeUsage(
  database: Database,
  tallies: ReadonlyMap<string, UsageTally>,
): Promise<void> {
  const { counts, latencies } = toUsageRows([...tallies.values()]);
  await database.transaction().execute(async (transaction) => {
    for (const some of inParts(counts)) await addCounts(transaction, some);
    for (const some of inParts(latencies)) await addLatencies(transaction, some);
  });
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

/** Where the step begins that an hour is in. No hour before 1970 is stored. */
function stepOf({ hoursPerStep }: UsagePeriod) {
  return sql<number>`hour - hour % ${sql.lit(hoursPerStep)}`;
}

/** At most `limit` of an account's counts by step, key, operation and outcome, oldest first, the rows of a key and an operation together. */
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

/** How often an account's latencies fell into each bucket, by step and measure, the oldest step first. */
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

export type NamedKey = Awaited<ReturnType<typeof selectNamedKeys>>[number];

/** What an account's keys of these ids are called. */
export async function selectNamedKeys(reader: Database, accountId: string, keyIds: readonly string[]) {
  const found = inParts(keyIds).map((ids) =>
    reader
      .selectFrom("api_keys")
      .innerJoin("users", "users.id", "api_keys.user_id")
      .select(["api_keys.id", "api_keys.name", "prefix", "last_four", "revoked_at"])
      .where("api_keys.id", "in", ids)
      .where("users.account_id", "=", accountId)
      .execute(),
  );
  return (await Promise.all(found)).flat();
}

function inParts<Item>(items: readonly Item[]): Item[][] {
  const parts = Math.ceil(items.length / mostAtOnce);
  return Array.from({ length: parts }, (_, part) => items.slice(part * mostAtOnce, (part + 1) * mostAtOnce));
}
