import { type RawBuilder, type SqlBool, sql } from "kysely";
import type {
  EvaluationPayloadsTable,
  EvaluationResultsTable,
} from "../../../storage/schema/evaluation-results.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { Run } from "../run.ts";

/** Results that name a run in one of two columns. Each part has an index of its own. */
export interface ResultsPart {
  column: "experiment_id" | "run_id";
  hasVerdict: boolean;
}

export const resultsParts: readonly ResultsPart[] = [
  { column: "experiment_id", hasVerdict: true },
  { column: "experiment_id", hasVerdict: false },
  { column: "run_id", hasVerdict: true },
  { column: "run_id", hasVerdict: false },
];

/** As the indexes have them: with parameters, neither database would use them. */
const hasVerdictIs = (hasVerdict: boolean): RawBuilder<SqlBool> =>
  hasVerdict ? sql`status = 'success'` : sql`status <> 'success'`;

type RunIds = Pick<Run, "id" | "accountId">;

/** The number of results that name a run. Those that name it in both columns count twice. */
export async function countResults(reader: Database, { id, accountId }: RunIds): Promise<number> {
  let count = 0;
  for (const { column, hasVerdict } of resultsParts) {
    const part = await reader
      .selectFrom("evaluation_results")
      .select((of) => of.fn.countAll<number>().as("count"))
      .where("account_id", "=", accountId)
      .where(column, "=", id)
      .where(hasVerdictIs(hasVerdict))
      .executeTakeFirstOrThrow();
    count += Number(part.count);
  }
  return count;
}

export type ExternalResultRow = Pick<
  EvaluationResultsTable,
  | "id"
  | "evaluator_id"
  | "is_external"
  | "profile_name"
  | "profile_public_id"
  | "profile_revision"
  | "status"
  | "dataset_id"
  | "sample_key"
  | "cluster_id"
  | "pass"
  | "score"
> & { tags: EvaluationPayloadsTable["tags"] };

/** Some results of a part, in the order of their numbers. Each result is in one part only. */
export async function selectExternalResults(
  reader: Database,
  { id, accountId }: RunIds,
  { column, hasVerdict }: ResultsPart,
  { after, limit }: { after: number; limit: number },
): Promise<ExternalResultRow[]> {
  let query = reader
    .selectFrom("evaluation_results")
    .leftJoin("evaluation_payloads", "evaluation_payloads.result_id", "evaluation_results.id")
    .select(["id", "evaluator_id", "is_external", "profile_name", "profile_public_id", "profile_revision"])
    .select(["status", "dataset_id", "sample_key", "cluster_id", "pass", "score", "tags"])
    .where("account_id", "=", accountId)
    .where(column, "=", id)
    .where(hasVerdictIs(hasVerdict))
    .where("id", ">", after);
  if (column === "run_id")
    query = query.where((of) => of.or([of("experiment_id", "is", null), of("experiment_id", "!=", id)]));
  return await query.orderBy("id").limit(limit).execute();
}

export type NamesRow = Pick<
  EvaluationResultsTable,
  "evaluator_id" | "is_external" | "profile_name" | "profile_public_id" | "profile_revision"
>;

/** How many results of one evaluator are in a part. */
export interface ResultCountsRow extends NamesRow {
  results: number;
  /** Results that say whether the sample passed. */
  with_pass: number;
  /** Results that have a score and nothing else. */
  with_score: number;
  last_id: number;
}

/** Counts the results of a part by evaluator, those with numbers after `after`, up to `upTo` where there is such a bound. */
export async function countByEvaluator(
  reader: Database,
  { id, accountId }: RunIds,
  { column, hasVerdict }: ResultsPart,
  { after, upTo }: { after: number; upTo?: number | undefined },
): Promise<ResultCountsRow[]> {
  let query = reader
    .selectFrom("evaluation_results")
    .select(["evaluator_id", "is_external", "profile_name", "profile_public_id", "profile_revision"])
    .select((of) => [
      of.fn.countAll<number>().as("results"),
      sql<number>`count(case when ${hasVerdictIs(hasVerdict)} then pass end)`.as("with_pass"),
      sql<number>`count(case when ${hasVerdictIs(hasVerdict)} and pass is null then score end)`.as(
        "with_score",
      ),
      of.fn.max("id").as("last_id"),
    ])
    .where("account_id", "=", accountId)
    .where(column, "=", id)
    .where(hasVerdictIs(hasVerdict))
    .where("id", ">", after);
  if (upTo !== undefined) query = query.where("id", "<=", upTo);
  if (column === "run_id")
    query = query.where((of) => of.or([of("experiment_id", "is", null), of("experiment_id", "!=", id)]));
  const rows = await query
    .groupBy(["evaluator_id", "is_external", "profile_name", "profile_public_id", "profile_revision"])
    .execute();
  // PostgreSQL's driver has texts for counts.
  return rows.map((row) => ({
    ...row,
    results: Number(row.results),
    with_pass: Number(row.with_pass),
    with_score: Number(row.with_score),
    last_id: Number(row.last_id),
  }));
}
