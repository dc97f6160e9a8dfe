import { type KeysetPage, type ListPart, selectNewestFirst } from "../platform/storage/lists.ts";
import type { GoalsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

/** Stores a goal in place of the one that runs of its name have. */
export async function upsertGoal(transaction: Database, row: GoalsTable): Promise<GoalsTable> {
  const { evaluator, profile_name, pass_rate, created_by, created_at } = row;
  return await transaction
    .insertInto("goals")
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(["account_id", "run_name"])
        .doUpdateSet({ evaluator, profile_name, pass_rate, created_by, created_at }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Returns the goal's id; undefined if there is none. */
export async function deleteGoal(transaction: Database, accountId: string, runName: string) {
  const row = await transaction
    .deleteFrom("goals")
    .where("account_id", "=", accountId)
    .where("run_name", "=", runName)
    .returning("id")
    .executeTakeFirst();
  return row?.id;
}

/** An account's goals, the latest first. */
export async function selectGoals(
  reader: Database,
  accountId: string,
  page: KeysetPage,
): Promise<ListPart<GoalsTable>> {
  return await selectNewestFirst(
    reader.selectFrom("goals").selectAll().where("account_id", "=", accountId),
    page,
  );
}

/** The goals of runs of these names, by name. */
export async function selectGoalsOf(
  reader: Database,
  accountId: string,
  runs: readonly { name: string }[],
): Promise<ReadonlyMap<string, GoalsTable>> {
  const names = [...new Set(runs.map(({ name }) => name))];
  if (names.length === 0) return new Map();
  const rows = await reader
    .selectFrom("goals")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("run_name", "in", names)
    .execute();
  return new Map(rows.map((row) => [row.run_name, row]));
}
