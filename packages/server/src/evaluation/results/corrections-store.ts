import type { Database, EvaluationCorrectionsTable, Micros } from "../../storage/tables.ts";
import type { KeptResult } from "./evaluation-record.ts";
import { selectResults } from "./kept-results-store.ts";
import { toMille } from "./score-mille.ts";

/** The verdict that counts, and when a person last said something about it. */
export interface CountedVerdict {
  pass: boolean | undefined;
  score: number | undefined;
  correctedAt: Micros | undefined;
}

export async function selectCountedVerdict(database: Database, resultId: number): Promise<CountedVerdict> {
  const row = await database
    .selectFrom("evaluation_results as result")
    .select(["counted_pass", "counted_score"])
    .select((result) =>
      result
        .selectFrom("evaluation_corrections as correction")
        .select("correction.created_at")
        .whereRef("correction.result_id", "=", "result.id")
        .orderBy("correction.created_at", "desc")
        .limit(1)
        .as("corrected_at"),
    )
    .where("result.id", "=", resultId)
    .executeTakeFirstOrThrow();
  return {
    pass: row.counted_pass === null ? undefined : row.counted_pass === 1,
    score: row.counted_score ?? undefined,
    correctedAt: row.corrected_at ?? undefined,
  };
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
): Promise<KeptResult[]> {
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
    rows.map(({ result_id }) => result_id),
  );
}
