import { type RawBuilder, type SqlBool, sql } from "kysely";
import { isPostgres } from "../../platform/storage/is-postgres.ts";
import type { Micros } from "../../platform/storage/micros.ts";
import type { EvaluationTagsTable } from "../../platform/storage/schema/evaluation-results.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { recount } from "../correct-result.ts";
import { countErrorFindings } from "../count-error-findings.ts";
import { addErrorFindings } from "../error-findings-store.ts";
import { lockRollUp, takeFromCounts } from "../summary/roll-up-tags-store.ts";
import { countableColumns, toCountable, withFindings } from "../write/countable-results-store.ts";
import { addCounted } from "../write/result-counts-store.ts";

/** Far below the number of parameters that a statement may have. */
const tagsAtOnce = 2_000;

/** A place in the order in which results are too old. */
export interface AgePlace {
  createdAt: Micros;
  id: number;
}

/** A result, and whether it belongs to an existing run or experiment. */
export interface DeletionCandidate extends AgePlace {
  isOfRun: boolean;
}

/** Whether a run or an experiment of its account names the result. Runs that are deleted name nothing. */
const isOfRun = sql<SqlBool | number>`exists (select 1 from runs
  where runs.id in (result.run_id, result.experiment_id) and runs.account_id = result.account_id
    and runs.status <> 'deleted')`;

/** The oldest results of all accounts from before a time, after a place. */
export async function selectOldest(
  database: Database,
  before: Micros,
  after: AgePlace,
  limit: number,
): Promise<DeletionCandidate[]> {
  return await selectCandidates(database, (query) =>
    query
      .where(sql<SqlBool>`(result.created_at, result.id) > (${after.createdAt}, ${after.id})`)
      .where("result.created_at", "<", before)
      .orderBy("result.created_at")
      .orderBy("result.id")
      .limit(limit),
  );
}

/** Some results of an account, by ascending id. */
export async function selectCandidatesOf(
  database: Database,
  accountId: string,
  ids: readonly number[],
): Promise<DeletionCandidate[]> {
  if (ids.length === 0) return [];
  return await selectCandidates(database, (query) =>
    query.where("result.account_id", "=", accountId).where("result.id", "in", ids).orderBy("result.id"),
  );
}

/** Those without a correction since a time. They are locked against corrections until the transaction ends. */
export async function lockUncorrected(
  transaction: Database,
  ids: readonly number[],
  since: Micros,
): Promise<number[]> {
  if (ids.length === 0) return [];
  const rows = await lockResults(transaction, ids);
  const corrected = await transaction
    .selectFrom("evaluation_corrections")
    .select("result_id")
    .where("result_id", "in", ids)
    .where("created_at", ">=", since)
    .execute();
  const isCorrected = new Set(corrected.map(({ result_id }) => result_id));
  return rows.map(({ id }) => id).filter((id) => !isCorrected.has(id));
}

type CandidateQuery = ReturnType<typeof candidates>;

function candidates(database: Database) {
  return database
    .selectFrom("evaluation_results as result")
    .select(["result.id", "result.created_at", isOfRun.as("is_of_run")]);
}

async function selectCandidates(
  database: Database,
  narrow: (query: CandidateQuery) => CandidateQuery,
): Promise<DeletionCandidate[]> {
  const rows = await narrow(candidates(database)).execute();
  return rows.map(({ id, created_at, is_of_run }) => ({
    id,
    createdAt: created_at,
    isOfRun: Boolean(is_of_run),
  }));
}

/**
 * Deletes results with everything that is stored about them, and takes them from every rollup. Results that are gone already are passed
 * over. Returns how many were deleted.
 */
export async function deleteResultRows(transaction: Database, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0;
  // Before the rows: who counts by tag may take long, and rows that wait for that hold up corrections.
  await lockRollUp(transaction);
  const rows = await lockResults(transaction, ids);
  const found = rows.map(({ id }) => id);
  if (found.length === 0) return 0;
  const texts = await transaction
    .selectFrom("evaluation_payloads as payload")
    .innerJoin("evaluation_results as result", "result.id", "payload.result_id")
    .select(["payload.result_id", "payload.tags"])
    .select(findingsOnly.as("additional_info"))
    .where("payload.result_id", "in", found)
    .execute();
  const textsOf = new Map(texts.map((text) => [text.result_id, text]));
  const counted = rows.map((row) => withFindings(toCountable(row), textsOf.get(row.id)?.additional_info));
  await addCounted(transaction, recount(counted, []));
  await addErrorFindings(
    transaction,
    countErrorFindings(counted).map((cell) => ({ ...cell, count: -cell.count })),
  );
  await takeFromCounts(transaction, found);
  const tags = rows.flatMap(({ id, account_id }) => toTags(id, account_id, textsOf.get(id)?.tags));
  await deleteTags(transaction, tags);
  await transaction.deleteFrom("evaluation_corrections").where("result_id", "in", found).execute();
  await transaction.deleteFrom("evaluation_payloads").where("result_id", "in", found).execute();
  await transaction.deleteFrom("evaluation_results").where("id", "in", found).execute();
  return found.length;
}

/** What other families store is long, and not counted. */
const findingsOnly: RawBuilder<string | null> = sql`case when result.evaluator_family = 'error-taxonomy'
  then payload.additional_info end`;

async function lockResults(transaction: Database, ids: readonly number[]) {
  return await transaction
    .selectFrom("evaluation_results")
    .select(countableColumns)
    .where("id", "in", ids)
    .orderBy("id")
    // No one can correct them any more.
    .$if(isPostgres(transaction), (query) => query.forUpdate())
    .execute();
}

function toTags(id: number, account_id: string, json: string | null | undefined): EvaluationTagsTable[] {
  if (!json) return [];
  const tags = JSON.parse(json) as Record<string, string>;
  return Object.entries(tags).map(([name, value]) => ({ account_id, name, value, result_id: id }));
}

/** By their key: they are in the order of names. */
async function deleteTags(transaction: Database, tags: readonly EvaluationTagsTable[]): Promise<void> {
  for (let at = 0; at < tags.length; at += tagsAtOnce) {
    const keys = tags
      .slice(at, at + tagsAtOnce)
      .map((tag) => sql`(${tag.account_id}, ${tag.name}, ${tag.value}, ${sql.lit(tag.result_id)})`);
    await sql`delete from evaluation_tags where (account_id, name, value, result_id) in (values ${sql.join(keys)})`.execute(
      transaction,
    );
  }
}
