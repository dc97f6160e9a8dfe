import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Micros } from "../../platform/storage/columns.ts";
import type {
  EvaluationResultsTable,
  EvaluationTagsTable,
  ResultDeletionsTable,
} from "../../platform/storage/schema/results.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import { inParts } from "../../platform/words.ts";
import { addErrorFindings, recountErrorFindings } from "../error-findings-store.ts";
import { toTagRows } from "../result.ts";
import { lockRollUp, takeFromCounts } from "../summary/tags.ts";
import { addCounted, countableColumns, recount } from "../write/counts-store.ts";
import { lockMerging } from "../write/merge-counts.ts";

/** Far below the number of parameters that a statement may have. */
const tagsAtOnce = 2_000;

/** A position in the order of results by age. */
export type AgePosition = Pick<EvaluationResultsTable, "id" | "created_at">;

/** Whether a run or an experiment of its account has the result. Deleted runs do not count. */
const isOfRun = sql<SqlBool | number>`exists (select 1 from runs
  where runs.id in (result.run_id, result.experiment_id) and runs.account_id = result.account_id
    and runs.status <> 'deleted')`;

/** The oldest results of all accounts from before a time, after a position. */
export async function selectOldest(
  database: Database,
  before: Micros,
  after: AgePosition,
  limit: number,
): Promise<DeletionCandidate[]> {
  return await candidates(database)
    .where(sql<SqlBool>`(result.created_at, result.id) > (${after.created_at}, ${after.id})`)
    .where("result.created_at", "<", before)
    .orderBy("result.created_at")
    .orderBy("result.id")
    .limit(limit)
    .execute();
}

/** Some results of an account, by ascending id. */
export async function selectCandidatesOf(
  database: Database,
  accountId: string,
  ids: readonly number[],
): Promise<DeletionCandidate[]> {
  if (ids.length === 0) return [];
  return await candidates(database)
    .where("result.account_id", "=", accountId)
    .where("result.id", "in", ids)
    .orderBy("result.id")
    .execute();
}

/** The results among these without a correction since a time, locked against corrections until the transaction ends. */
export async function lockUncorrected(transaction: Database, ids: readonly number[], since: Micros) {
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

/** A result, and whether it belongs to an existing run or experiment. */
type DeletionCandidate = Awaited<ReturnType<ReturnType<typeof candidates>["execute"]>>[number];

function candidates(database: Database) {
  return database
    .selectFrom("evaluation_results as result")
    .select(["result.id", "result.created_at", isOfRun.as("is_of_run")]);
}

/**
 * Deletes results with everything that is stored about them, and subtracts them from every rollup. Results that no longer exist are
 * skipped. Returns how many were deleted.
 */
export async function deleteResultRows(transaction: Database, ids: readonly number[]) {
  if (ids.length === 0) return 0;
  // Before the rows: counting by tag may take long, and locked rows that wait for it would hold up corrections.
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
  const withInfo = rows.map((row) => ({
    row,
    texts: { additional_info: textsOf.get(row.id)?.additional_info ?? null },
  }));
  await addCounted(transaction, recount(rows, []));
  await addErrorFindings(transaction, recountErrorFindings(withInfo, []));
  await takeFromCounts(transaction, found);
  const tags = rows.flatMap((row) => toTagRows(row, textsOf.get(row.id)?.tags));
  await deleteTags(transaction, tags);
  for (const table of ["evaluation_corrections", "evaluation_labels", "label_sample_items"] as const)
    await transaction.deleteFrom(table).where("result_id", "in", found).execute();
  await transaction.deleteFrom("evaluation_payloads").where("result_id", "in", found).execute();
  await transaction.deleteFrom("evaluation_results").where("id", "in", found).execute();
  return found.length;
}

/** Other families store long texts here, which are not counted. */
const findingsOnly: RawBuilder<string | null> = sql`case when result.evaluator_family = 'error-taxonomy'
  then payload.additional_info end`;

async function lockResults(transaction: Database, ids: readonly number[]) {
  return await transaction
    .selectFrom("evaluation_results")
    .select(countableColumns)
    .where("id", "in", ids)
    .orderBy("id")
    // From here on, nobody can correct them.
    .$if(isPostgres(transaction), (query) => query.forUpdate())
    .execute();
}

/** Deletes tags by their whole key, which begins with the account and the name. */
async function deleteTags(transaction: Database, tags: readonly EvaluationTagsTable[]) {
  for (const some of inParts(tags, tagsAtOnce)) {
    const keys = some.map(
      (tag) => sql`(${tag.account_id}, ${tag.name}, ${tag.value}, ${sql.lit(tag.result_id)})`,
    );
    await sql`delete from evaluation_tags where (account_id, name, value, result_id) in (values ${sql.join(keys)})`.execute(
      transaction,
    );
  }
}

/** The keys of the tables of counts, then of tags: series before values, and values before names, each unused without the one before. */
const keys = {
  evaluation_counts: ["series_id", "day", "verdict", "score_mille"],
  evaluation_total_counts: ["account_id", "day", "score_mille", "verdict"],
  evaluation_tag_counts: ["series_id", "day", "verdict", "score_mille"],
  error_finding_counts: ["account_id", "revision_id", "day", "path_id"],
  evaluation_tag_series: ["id"],
  evaluation_tag_values: ["id"],
  evaluation_tag_names: ["account_id", "name"],
} as const;

/** The tables that the counts of new results are merged into. Counting by tag writes the others. */
const mergedTables: readonly CountsTable[] = [
  "evaluation_counts",
  "evaluation_total_counts",
  "error_finding_counts",
];

export type CountsTable = keyof typeof keys;
export const countsTables = Object.keys(keys) as CountsTable[];

/** The values of a table's key. */
export type CountsKey = (string | number)[];

/** Whether a row says nothing: all results that it counted were deleted or corrected, or nothing refers to it. */
function isEmpty(table: CountsTable) {
  switch (table) {
    case "evaluation_tag_series":
      return sql<SqlBool>`not exists (select 1 from evaluation_tag_counts where series_id = evaluation_tag_series.id)`;
    case "evaluation_tag_values":
      return sql<SqlBool>`not exists (select 1 from evaluation_tag_series where tag_id = evaluation_tag_values.id)`;
    case "evaluation_tag_names":
      // A name that is no longer counted may have results without values.
      return sql<SqlBool>`counted_up_to is null and not exists (select 1 from evaluation_tag_values as tag
        where tag.account_id = evaluation_tag_names.account_id and tag.name = evaluation_tag_names.name)`;
    default:
      return sql<SqlBool>`count = 0`;
  }
}

/** Looks at some rows after a key, in the order of keys. Returns the empty ones, and the last one if there may be more. */
export async function selectEmptyCounts(
  database: Database,
  table: CountsTable,
  after: CountsKey | undefined,
  lookedAt: number,
) {
  const names = keys[table];
  const columns = sql.join(names.map((name) => sql.ref(name)));
  const isLater = after === undefined ? sql`` : sql`where (${columns}) > (${sql.join(after)})`;
  const { rows } = await sql<Record<string, string | number> & { is_empty: SqlBool; number: number }>`
    select * from (
      select ${columns}, ${isEmpty(table)} as is_empty, row_number() over (order by ${columns}) as number
      from ${sql.ref(table)} ${isLater} order by ${columns} limit ${lookedAt}
    ) as looked where is_empty or number = ${lookedAt}`.execute(database);
  const keyOf = (row: (typeof rows)[number]) => names.map((name) => row[name] as string | number);
  const last = rows.find(({ number }) => number === lookedAt);
  return {
    empty: rows.filter(({ is_empty }) => is_empty).map(keyOf),
    last: last && keyOf(last),
  };
}

/** Deletes the rows that are still empty, under a lock that lasts until the transaction ends. */
export async function deleteCounts(transaction: Database, table: CountsTable, rows: readonly CountsKey[]) {
  // Before the rows, so that nobody waits for this lock while holding rows.
  if (!mergedTables.includes(table)) await lockRollUp(transaction);
  else if (isPostgres(transaction)) await lockMerging(transaction);
  const columns = sql.join(keys[table].map((name) => sql.ref(name)));
  let deleted = 0n;
  for (const key of rows) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.ref(table)} where (${columns}) = (${sql.join(key)}) and ${isEmpty(table)}`.execute(
      transaction,
    );
    deleted += numAffectedRows;
  }
  return Number(deleted);
}

export async function selectSomeIdsOf(database: Database, accountId: string, limit: number) {
  const { rows } = await sql<{ id: number }>`select id from evaluation_results
    where account_id = ${accountId} and status = 'success' order by id limit ${limit}`.execute(database);
  if (rows.length > 0) return rows.map(({ id }) => id);
  // Few results have no verdict; another index has those.
  const others = await sql<{ id: number }>`select id from evaluation_results
    where account_id = ${accountId} and status <> 'success' limit ${limit}`.execute(database);
  return others.rows.map(({ id }) => id);
}

/** Deletes every rollup of an account that has no results left. */
export async function deleteCountsOf(transaction: Database, accountId: string) {
  if (isPostgres(transaction)) await lockMerging(transaction);
  await lockRollUp(transaction);
  const series = sql`select id from evaluation_series where account_id = ${accountId}`;
  const tags = sql`select id from evaluation_tag_values where account_id = ${accountId}`;
  const ofTags = sql`select id from evaluation_tag_series where tag_id in (${tags})`;
  const statements = [
    sql`delete from evaluation_count_deltas where series_id in (${series})`,
    sql`delete from evaluation_counts where series_id in (${series})`,
    sql`delete from evaluation_total_counts where account_id = ${accountId}`,
    sql`delete from evaluation_series where account_id = ${accountId}`,
    sql`delete from evaluation_tag_counts where series_id in (${ofTags})`,
    sql`delete from evaluation_tag_series where tag_id in (${tags})`,
    sql`delete from evaluation_tag_values where account_id = ${accountId}`,
    sql`delete from evaluation_tag_names where account_id = ${accountId}`,
    sql`delete from error_finding_count_deltas where account_id = ${accountId}`,
    sql`delete from error_finding_counts where account_id = ${accountId}`,
  ];
  for (const statement of statements) await statement.execute(transaction);
}

export async function insertDeletion(database: Database, row: ResultDeletionsTable) {
  await database.insertInto("result_deletions").values(row).execute();
}

export async function selectDeletion(
  database: Database,
  accountId: string,
  id: string,
): Promise<ResultDeletionsTable | undefined> {
  return await database
    .selectFrom("result_deletions")
    .selectAll()
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
}

/** The condition of the partial index of these rows. */
const isUnfinished = sql<SqlBool>`finished_at is null`;

/** The deletion that has waited longest. */
export async function selectNextDeletion(database: Database): Promise<ResultDeletionsTable | undefined> {
  return await database
    .selectFrom("result_deletions")
    .selectAll()
    .where(isUnfinished)
    .orderBy("created_at")
    .limit(1)
    .executeTakeFirst();
}

/** Records that a deletion is done up to a number. In the transaction that deletes the results, so that they are counted once. */
export async function advanceDeletion(
  transaction: Database,
  id: string,
  { afterId, deleted, finishedAt }: { afterId: number; deleted: number; finishedAt: Micros | null },
) {
  await transaction
    .updateTable("result_deletions")
    .set((of) => ({ after_id: afterId, deleted: of("deleted", "+", deleted), finished_at: finishedAt }))
    .where("id", "=", id)
    .where(isUnfinished)
    .execute();
}

/** Deletes ended deletions, whose result can be read for some time. */
export async function forgetDeletions(database: Database, before: Micros) {
  await database.deleteFrom("result_deletions").where("finished_at", "<", before).execute();
}
