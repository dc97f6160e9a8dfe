import { databaseNow } from "../../platform/storage/database-clock.ts";
import { isPostgres } from "../../platform/storage/is-postgres.ts";
import type { Micros } from "../../platform/storage/micros.ts";
import type { EvaluationResultsTable } from "../../platform/storage/schema/evaluation-results.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { countErrorFindings } from "../count-error-findings.ts";
import { fromProfileColumns } from "../result-rows.ts";
import type { Countable } from "./result-counts-store.ts";

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

/** A result as the rollup counts it: with the verdict that counts, and without its texts. */
export function toCountable(row: CountableRow): Countable {
  return {
    accountId: row.account_id,
    evaluatorId: row.evaluator_id,
    evaluatorFamily: row.evaluator_family ?? undefined,
    profile: fromProfileColumns(row),
    createdAt: row.created_at,
    metadata: { app: row.app, runId: row.run_id ?? undefined },
    outcome: {
      status: row.status,
      pass: row.counted_pass === null ? undefined : row.counted_pass === 1,
      score: row.counted_score ?? undefined,
    },
  };
}

/** A result as all rollups count it. */
export type Dated = Parameters<typeof countErrorFindings>[0][number] & Countable;

/** The same with the errors that were found in it: `info` is what is stored as JSON beside its verdict. */
export function withFindings(countable: Countable, info: string | null | undefined): Dated {
  const { extra } = info ? (JSON.parse(info) as Pick<Dated["outcome"], "extra">) : {};
  return { ...countable, outcome: { ...countable.outcome, extra } };
}

/** An account's result, locked until the transaction ends, and the time. */
export async function lockResult(
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
  // On SQLite there is one writer at a time.
  const row = await (isPostgres(transaction) ? query.forUpdate() : query).executeTakeFirst();
  return row && { counted: toCountable(row), now: row.now };
}
