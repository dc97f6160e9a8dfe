import type { Database } from "../platform/storage/schema/tables.ts";
import { latestCorrectionId } from "./write/stored-results-store.ts";

/** How many results of a revision and a cluster have this pair of verdicts, the evaluator's and a person's. */
export interface AgreementCell {
  revision: number | null;
  evaluator_pass: number | null;
  person_pass: number;
  cluster_id: number | null;
  count: number;
}

/** Compares the latest corrections of an account's results of a profile with the evaluator's verdicts. */
export async function selectAgreementCells(
  reader: Database,
  accountId: string,
  publicId: string,
): Promise<AgreementCell[]> {
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
