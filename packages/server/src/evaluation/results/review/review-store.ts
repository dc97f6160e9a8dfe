import type { Database } from "../../../storage/schema/tables.ts";
import { latestCorrectionId } from "../record/stored-results-store.ts";

const idsAtOnce = 1_000;

/** What the order of a review needs to know of results, without their texts. */
export async function selectReviewColumns(reader: Database, ids: readonly number[]) {
  const columns = (some: readonly number[]) =>
    reader
      .selectFrom("evaluation_results as result")
      .select([
        "result.id",
        "result.evaluator_id",
        "result.evaluator_family",
        "result.profile_public_id",
        "result.profile_revision",
        "result.run_id",
        "result.dataset_id",
        "result.sample_key",
        "result.pass",
        "result.score",
      ])
      .select(latestCorrectionId(reader, "result.id").as("correction_id"))
      .where("result.id", "in", some)
      .execute();
  const rows: Awaited<ReturnType<typeof columns>> = [];
  for (let at = 0; at < ids.length; at += idsAtOnce)
    rows.push(...(await columns(ids.slice(at, at + idsAtOnce))));
  return rows;
}
