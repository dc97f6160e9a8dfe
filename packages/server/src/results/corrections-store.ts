import { type CorrectedExample, shownExampleCharacters } from "../evaluators/judge/prompts.ts";
import type { Flag, Micros } from "../platform/storage/columns.ts";
import type { EvaluationCorrectionsTable } from "../platform/storage/schema/results.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { toThousandths } from "./result.ts";
import { latestCorrectionId, selectResults } from "./write/stored-results-store.ts";

/** The latest correction of a result. */
function latestOf(database: Database, resultId: number) {
  return database
    .selectFrom("evaluation_corrections")
    .where("result_id", "=", resultId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(1);
}

/** When a result was last corrected, by `latest` if that is given. */
export async function selectCorrectedAt(
  database: Database,
  resultId: number,
  latest = Number.MAX_SAFE_INTEGER,
): Promise<Micros | undefined> {
  const found = latestOf(database, resultId).select("created_at").where("created_at", "<=", latest);
  return (await found.executeTakeFirst())?.created_at;
}

/** Appends a correction and makes its verdict count. */
export async function insertCorrection(transaction: Database, row: EvaluationCorrectionsTable) {
  await transaction.insertInto("evaluation_corrections").values(row).execute();
  await transaction
    .updateTable("evaluation_results")
    .set(countedOf(row))
    .where("id", "=", row.result_id)
    .execute();
}

export async function selectLatestCorrection(database: Database, resultId: number) {
  return await latestOf(database, resultId).select(["id", "user_id"]).executeTakeFirst();
}

type Verdict = Pick<EvaluationCorrectionsTable, "score"> & { pass: Flag | null };

/** The verdict that would count without one of the corrections: the latest of the others, otherwise the evaluator's. */
export async function selectCountedWithout(
  transaction: Database,
  resultId: number,
  correctionId: string,
): Promise<Verdict> {
  const other = await latestOf(transaction, resultId)
    .select(["pass", "score"])
    .where("id", "<>", correctionId)
    .executeTakeFirst();
  if (other !== undefined) return other;
  return await transaction
    .selectFrom("evaluation_results")
    .select(["pass", "score"])
    .where("id", "=", resultId)
    .executeTakeFirstOrThrow();
}

/** Removes a correction and makes another verdict count. */
export async function deleteCorrection(
  transaction: Database,
  { id, resultId, pass, score }: { id: string; resultId: number } & Verdict,
) {
  await transaction.deleteFrom("evaluation_corrections").where("id", "=", id).execute();
  await transaction
    .updateTable("evaluation_results")
    .set(countedOf({ pass, score }))
    .where("id", "=", resultId)
    .execute();
}

function countedOf({ pass, score }: Verdict) {
  return {
    counted_pass: pass,
    counted_score: score,
    score_mille: score === null ? null : toThousandths(score),
  };
}

/** Corrections that reverse a verdict of a profile, the latest of each result, newest first. */
export async function selectDisagreements(
  reader: Database,
  accountId: string,
  profilePublicId: string,
  limit: number,
) {
  const rows = await reader
    .selectFrom("evaluation_corrections as correction")
    .innerJoin("evaluation_results as result", "result.id", "correction.result_id")
    .select("correction.result_id")
    .where("correction.account_id", "=", accountId)
    .where("correction.profile_public_id", "=", profilePublicId)
    .where("correction.id", "=", latestCorrectionId(reader, "correction.result_id"))
    .whereRef("result.pass", "<>", "correction.pass")
    .orderBy("correction.created_at", "desc")
    .orderBy("correction.id", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ result_id }) => result_id);
}

/** The latest corrections of results of a profile, newest first, one per result. */
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
    shownExampleCharacters + 1,
  );
  return results.flatMap(({ sample, correction }) =>
    correction === undefined
      ? []
      : { sample, pass: correction.pass, comment: correction.comment ?? undefined },
  );
}

/** How many results of a revision and a cluster have this pair of verdicts, the evaluator's and a person's. */
export type AgreementCell = Awaited<ReturnType<typeof selectAgreementCells>>[number];

/** Compares the latest corrections of an account's results of a profile with the evaluator's verdicts. */
export async function selectAgreementCells(reader: Database, accountId: string, publicId: string) {
  return await reader
    .selectFrom("evaluation_corrections as correction")
    .innerJoin("evaluation_results as result", "result.id", "correction.result_id")
    .select([
      "result.profile_revision as revision",
      "result.pass as evaluator_pass",
      "correction.pass as person_pass",
      "result.cluster_id",
    ])
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("correction.account_id", "=", accountId)
    .where("correction.profile_public_id", "=", publicId)
    .where("correction.id", "=", latestCorrectionId(reader, "correction.result_id"))
    .groupBy(["result.profile_revision", "result.pass", "correction.pass", "result.cluster_id"])
    .execute();
}
