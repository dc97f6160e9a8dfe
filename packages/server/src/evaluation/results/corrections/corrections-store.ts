import type { Micros } from "../../../storage/micros.ts";
import type { EvaluationCorrectionsTable } from "../../../storage/schema/evaluation-results.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { StoredResult } from "../record/evaluation-record.ts";
import { selectResults } from "../record/stored-results-store.ts";
import { toMille } from "../summary/score-mille.ts";

/** When a person last said something about a result. */
export async function selectCorrectedAt(database: Database, resultId: number): Promise<Micros | undefined> {
  const row = await database
    .selectFrom("evaluation_corrections")
    .select("created_at")
    .where("result_id", "=", resultId)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.created_at;
}

/** Appends a correction and lets its verdict count. */
export async function insertCorrection(
  transaction: Database,
  row: EvaluationCorrectionsTable & { score: number },
): Promise<void> {
  await transaction.insertInto("evaluation_corrections").values(row).execute();
  await transaction
    .updateTable("evaluation_results")
    .set({ counted_pass: row.pass, counted_score: row.score, score_mille: toMille(row.score) })
    .where("id", "=", row.result_id)
    .execute();
}

/** Results of a profile that people have corrected, the latest corrections first. */
export async function selectCorrectedResults(
  reader: Database,
  accountId: string,
  profilePublicId: string,
  limit: number,
): Promise<StoredResult[]> {
  const rows = await reader
    .selectFrom("evaluation_corrections as correction")
    .select("correction.result_id")
    .where("correction.account_id", "=", accountId)
    .where("correction.profile_public_id", "=", profilePublicId)
    .where("correction.id", "=", (latest) =>
      latest
        .selectFrom("evaluation_corrections as other")
        .select("other.id")
        .whereRef("other.result_id", "=", "correction.result_id")
        .orderBy("other.created_at", "desc")
        .orderBy("other.id", "desc")
        .limit(1),
    )
    .orderBy("correction.created_at", "desc")
    .orderBy("correction.id", "desc")
    .limit(limit)
    .execute();
  return await selectResults(
    reader,
    accountId,
    rows.map(({ result_id }) => result_id),
  );
}
