import type { EvaluationLabelsTable } from "../../platform/storage/schema/results.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";

/** Whose label it is. */
export type Annotator = Pick<EvaluationLabelsTable, "user_id" | "annotator">;

export type LabelRow = Omit<EvaluationLabelsTable, "account_id" | "correction_id"> & { email: string | null };

/** The labels of some results, the first given first. */
export async function selectLabels(reader: Database, resultIds: readonly number[]): Promise<LabelRow[]> {
  if (resultIds.length === 0) return [];
  return await reader
    .selectFrom("evaluation_labels as label")
    .leftJoin("users", "users.id", "label.user_id")
    .select(["label.id", "result_id", "user_id", "annotator", "pass", "score"])
    .select(["label.created_at", "users.email"])
    .where("result_id", "in", resultIds)
    .orderBy("label.created_at")
    .orderBy("label.id")
    .execute();
}

/** A person's label of a result that is locked, if there is one. */
export async function selectOwnLabel(
  transaction: Database,
  resultId: number,
  { user_id, annotator }: Annotator,
) {
  return await transaction
    .selectFrom("evaluation_labels")
    .select(["id", "correction_id"])
    .where("result_id", "=", resultId)
    .where("user_id", user_id === null ? "is" : "=", user_id)
    .where("annotator", annotator === null ? "is" : "=", annotator)
    .executeTakeFirst();
}

export async function deleteLabel(transaction: Database, id: string) {
  await transaction.deleteFrom("evaluation_labels").where("id", "=", id).execute();
}

export async function insertLabel(transaction: Database, row: EvaluationLabelsTable) {
  await transaction.insertInto("evaluation_labels").values(row).execute();
}

/** The evaluator's own verdict; undefined without one. */
export async function selectVerdict(transaction: Database, resultId: number) {
  const row = await transaction
    .selectFrom("evaluation_results")
    .select(["pass", "score"])
    .where("id", "=", resultId)
    .where("status", "=", "success")
    .executeTakeFirst();
  if (row === undefined || row.pass === null) return undefined;
  return { isPass: row.pass === 1, isGraded: row.score !== null };
}

/** A result that lines may name, by its id or by its run and sample. */
export type NamedResult = Awaited<ReturnType<typeof selectNamedResults>>[number];

/** Those of an account's results with a verdict whose id, or whose run and sample's key, is among these. */
export async function selectNamedResults(
  reader: Database,
  accountId: string,
  named: { ids: readonly number[] } | { runId: string; sampleKeys: readonly string[] },
) {
  return await reader
    .selectFrom("evaluation_results")
    .select(["id", "run_id", "experiment_id", "sample_key"])
    .select(["evaluator_id", "evaluator_family", "profile_name"])
    .where("account_id", "=", accountId)
    .where("status", "=", "success")
    .where("pass", "is not", null)
    .where((of) =>
      "ids" in named
        ? of("id", "in", named.ids)
        : of.and([
            of("sample_key", "in", named.sampleKeys),
            of.or([of("run_id", "=", named.runId), of("experiment_id", "=", named.runId)]),
          ]),
    )
    .execute();
}
