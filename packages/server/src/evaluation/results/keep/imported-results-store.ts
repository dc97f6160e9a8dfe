import type { EvaluationResultsTable } from "../../../storage/schema/evaluation-results.ts";
import type { Database } from "../../../storage/schema/tables.ts";

type ImportedRow = Pick<EvaluationResultsTable, "id" | "app" | "evaluator_id" | "created_at" | "request_key">;

/** What an account has under some request keys, without the texts. */
export async function selectImported(
  database: Database,
  accountId: string,
  requestKeys: readonly string[],
): Promise<ImportedRow[]> {
  return await database
    .selectFrom("evaluation_results")
    .select(["id", "app", "evaluator_id", "created_at", "request_key"])
    .where("account_id", "=", accountId)
    .where("request_key", "in", requestKeys)
    .execute();
}
