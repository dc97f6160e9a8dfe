import type { BudgetsTable, UsageModelTokensTable } from "../platform/storage/schema/accounts.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { sumsOf } from "./usage-store.ts";

/** All budgets of all accounts: there are few, and each process reads them every few seconds. */
export async function selectAllBudgets(database: Database): Promise<BudgetsTable[]> {
  return await database.selectFrom("budgets").selectAll().execute();
}

/** Sets a budget, and makes its warning due again. */
export async function upsertBudget(transaction: Database, budget: Omit<BudgetsTable, "warned_month">) {
  const { limit_micros, stops } = budget;
  await transaction
    .insertInto("budgets")
    .values({ ...budget, warned_month: 0 })
    .onConflict((conflict) =>
      conflict.columns(["account_id", "api_key_id"]).doUpdateSet({ limit_micros, stops, warned_month: 0 }),
    )
    .execute();
}

/** Returns whether the budget existed. */
export async function deleteBudget(
  transaction: Database,
  { account_id, api_key_id }: Pick<BudgetsTable, "account_id" | "api_key_id">,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom("budgets")
    .where("account_id", "=", account_id)
    .where("api_key_id", "=", api_key_id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** Whether this process is the one that logs a month's warning: each budget warns once, however many processes there are. */
export async function claimWarning(
  database: Database,
  { account_id, api_key_id }: Pick<BudgetsTable, "account_id" | "api_key_id">,
  month: number,
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("budgets")
    .set({ warned_month: month })
    .where("account_id", "=", account_id)
    .where("api_key_id", "=", api_key_id)
    .where("warned_month", "!=", month)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Whether the key belongs to one of an account's users. */
export async function isKeyOf(reader: Database, accountId: string, keyId: string): Promise<boolean> {
  const found = await reader
    .selectFrom("api_keys")
    .innerJoin("users", "users.id", "api_keys.user_id")
    .select("api_keys.id")
    .where("api_keys.id", "=", keyId)
    .where("users.account_id", "=", accountId)
    .executeTakeFirst();
  return found !== undefined;
}

/** Tokens that one key of an account used with one model. */
export type TokensOfKey = Omit<UsageModelTokensTable, "hour" | "operation">;

/** What some accounts used in a range of hours since 1970; `untilHour` is exclusive. */
export async function selectTokens(
  database: Database,
  accountIds: readonly string[],
  fromHour: number,
  untilHour: number,
): Promise<TokensOfKey[]> {
  if (fromHour >= untilHour || accountIds.length === 0) return [];
  return await database
    .selectFrom("usage_model_tokens")
    .select(["account_id", "key_id", "model"])
    .select(sumsOf("usage_model_tokens"))
    .where("account_id", "in", accountIds)
    .where("hour", ">=", fromHour)
    .where("hour", "<", untilHour)
    .groupBy(["account_id", "key_id", "model"])
    .execute();
}
