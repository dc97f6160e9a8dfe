import type { Micros } from "../../../storage/micros.ts";
import type { EvaluationCorrectionsTable } from "../../../storage/schema/evaluation-results.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { CorrectedExample } from "../../judge/prompts.ts";
import { toThousandths } from "../record/result-rows.ts";
import { latestCorrectionId, selectResults } from "../record/stored-results-store.ts";

/** When a result was last corrected, by `latest` if that is given. */
export async function selectCorrectedAt(
  database: Database,
  resultId: number,
  latest?: Micros,
): Promise<Micros | undefined> {
  const corrections = database
    .selectFrom("evaluation_corrections")
    .select("created_at")
    .where("result_id", "=", resultId)
    .orderBy("created_at", "desc")
    .limit(1);
  const row = await (latest === undefined
    ? corrections
    : corrections.where("created_at", "<=", latest)
  ).executeTakeFirst();
  return row?.created_at;
}

/** Appends a correction and makes its verdict count. */
export async function insertCorrection(
  transaction: Database,
  row: EvaluationCorrectionsTable & { score: number },
): Promise<void> {
  await transaction.insertInto("evaluation_corrections").values(row).execute();
  await transaction
    .updateTable("evaluation_results")
    .set({ counted_pass: row.pass, counted_score: row.score, score_mille: toThousandths(row.score) })
    .where("id", "=", row.result_id)
    .execute();
}

/** The latest corrections of results of a profile, newest first, one a result. */
export async function findCorrections(
  reader: Database,
  accountId: string,
  profilePublicId: string,
  limit: number,
): Promise<CorrectedExample[]> {
  const rows = await reader
    .selectFrom("evaluation_corrections as correction")
    .select("correction.result_id")
    .where("correction.account_id", "=", accountId)
    .where("correction.profile_public_id", "=", profilePublicId)
    .where("correction.id", "=", latestCorrectionId(reader, "correction.result_id"))
    .orderBy("correction.created_at", "desc")
    .orderBy("correction.id", "desc")
    .limit(limit)
    .execute();
  const results = await selectResults(
    reader,
    accountId,
    rows.map(({ result_id }) => result_id),
  );
  return results.flatMap(({ sample, correction }) =>
    correction === undefined ? [] : { sample, pass: correction.pass, comment: correction.comment },
  );
}
