import { databaseNow } from "../../../storage/database-clock.ts";
import { isPostgres } from "../../../storage/is-postgres.ts";
import type { Micros } from "../../../storage/micros.ts";
import type { EvaluationResultsTable } from "../../../storage/schema/evaluation-results.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { Countable } from "./count-results.ts";

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

type CountableRow = Pick<EvaluationResultsTable, (typeof countableColumns)[number]>;

/** A result as the rollup has it: with the verdict that counts, and without its texts. */
export function toCountable(row: CountableRow): Countable {
  return {
    accountId: row.account_id,
    evaluatorId: row.evaluator_id,
    createdAt: row.created_at,
    ...(row.evaluator_family === null ? {} : { evaluatorFamily: row.evaluator_family }),
    ...(row.profile_name === null
      ? {}
      : {
          profile: {
            name: row.profile_name,
            ...(row.profile_public_id === null ? {} : { publicId: row.profile_public_id }),
            ...(row.profile_revision === null ? {} : { revision: row.profile_revision }),
          },
        }),
    metadata: { app: row.app, ...(row.run_id === null ? {} : { runId: row.run_id }) },
    outcome: {
      status: row.status,
      ...(row.counted_pass === null ? {} : { pass: row.counted_pass === 1 }),
      ...(row.counted_score === null ? {} : { score: row.counted_score }),
    },
  };
}

/** An account's result, which the transaction holds until it ends, and the time. */
export async function holdResult(
  transaction: Database,
  accountId: string,
  id: number,
): Promise<{ counted: Countable; now: Micros } | undefined> {
  const query = transaction
    .selectFrom("evaluation_results")
    .select(countableColumns)
    .select(databaseNow(transaction).as("now"))
    .where("id", "=", id)
    .where("account_id", "=", accountId);
  // On SQLite the transaction is the only one that writes.
  const row = await (isPostgres(transaction) ? query.forUpdate() : query).executeTakeFirst();
  return row && { counted: toCountable(row), now: row.now };
}
