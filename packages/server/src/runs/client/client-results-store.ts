import { type RawBuilder, type SqlBool, sql } from "kysely";
import { toExternalName } from "../../evaluators/outcome.ts";
import type { EvaluationResultsTable } from "../../platform/storage/schema/results.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { EvaluatorNames, Run } from "../run.ts";

const names = [
  "evaluator_id",
  "is_external",
  "profile_name",
  "profile_public_id",
  "profile_revision",
] as const;

export type NamesRow = Pick<EvaluationResultsTable, (typeof names)[number]>;

/** The evaluator of results as the API names it. */
export function evaluatorNamesOf(row: NamesRow): EvaluatorNames {
  return {
    evaluator: row.is_external === 1 ? toExternalName(row.evaluator_id) : row.evaluator_id,
    profile_name: row.profile_name,
    profile_id: row.profile_public_id,
    profile_revision: row.profile_revision,
  };
}

/** Results that name a run in one of two columns. Each part has its own index. */
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

/** Written literally as in the indexes: with parameters, neither database would use them. */
const hasVerdictIs = (hasVerdict: boolean): RawBuilder<SqlBool> =>
  hasVerdict ? sql`status = 'success'` : sql`status <> 'success'`;

type RunIds = Pick<Run, "id" | "account_id">;

/** The number of results that name a run. Results that name it in both columns count twice. */
export async function countResults(reader: Database, { id, account_id }: RunIds) {
  let count = 0;
  for (const { column, hasVerdict } of resultsParts) {
    const part = await reader
      .selectFrom("evaluation_results")
      .select((of) => of.fn.countAll<number>().as("count"))
      .where("account_id", "=", account_id)
      .where(column, "=", id)
      .where(hasVerdictIs(hasVerdict))
      .executeTakeFirstOrThrow();
    count += part.count;
  }
  return count;
}

export type ClientResultRow = Awaited<ReturnType<typeof selectClientResults>>[number];

/** Some results of a part, in the order of their numbers. Each result is in only one part. */
export async function selectClientResults(
  reader: Database,
  { id, account_id }: RunIds,
  { column, hasVerdict }: ResultsPart,
  { after, limit }: { after: number; limit: number },
) {
  let query = reader
    .selectFrom("evaluation_results")
    .leftJoin("evaluation_payloads", "evaluation_payloads.result_id", "evaluation_results.id")
    .select(names)
    .select(["id", "status", "dataset_id", "sample_key", "cluster_id", "pass", "score", "tags"])
    .where("account_id", "=", account_id)
    .where(column, "=", id)
    .where(hasVerdictIs(hasVerdict))
    .where("id", ">", after);
  if (column === "run_id")
    query = query.where((of) => of.or([of("experiment_id", "is", null), of("experiment_id", "!=", id)]));
  return await query.orderBy("id").limit(limit).execute();
}

/** How many results of one evaluator name a run. */
export interface ResultCountsRow extends NamesRow {
  named_run: string;
  /** 1 if their numbers are at most `settled`. */
  is_settled: number;
  results: number;
  /** Results that say whether the sample passed. */
  with_pass: number;
  /** Results that have a score and nothing else. */
  with_score: number;
}

/** Results with numbers after `after`, up to and including `end` if it is defined. */
interface NumberRange {
  after: number;
  settled: number;
  end: number | undefined;
}

/** Every result may have a different evaluator. */
const maxRowsOfPart = 10_000;

/**
 * Counts results of a range by run and evaluator, those up to `settled` separately. A run and evaluator may have several rows. If
 * `isCut`, there are more rows, none with more results than these.
 */
export async function countByEvaluator(
  reader: Database,
  accountId: string,
  ids: readonly string[],
  range: NumberRange,
): Promise<{ rows: ResultCountsRow[]; isCut: boolean }> {
  const rows: ResultCountsRow[] = [];
  let isCut = false;
  for (const part of resultsParts) {
    const found = await countPart(reader, { accountId, ids }, part, range);
    isCut ||= found.length > maxRowsOfPart;
    rows.push(...found.slice(0, maxRowsOfPart));
  }
  return { rows, isCut };
}

interface ResultsOfRuns {
  accountId: string;
  ids: readonly string[];
}

function selectPart(
  reader: Database,
  { accountId, ids }: ResultsOfRuns,
  { column, hasVerdict }: ResultsPart,
  after: number,
) {
  const query = reader
    .selectFrom("evaluation_results")
    .where("account_id", "=", accountId)
    .where(column, "in", ids)
    .where(hasVerdictIs(hasVerdict))
    .where("id", ">", after);
  if (column === "experiment_id") return query;
  return query.where((of) =>
    of.or([of("experiment_id", "is", null), of("experiment_id", "!=", of.ref("run_id"))]),
  );
}

async function countPart(
  reader: Database,
  ofRuns: ResultsOfRuns,
  part: ResultsPart,
  { after, settled, end }: NumberRange,
): Promise<ResultCountsRow[]> {
  const { column, hasVerdict } = part;
  // Not a parameter: PostgreSQL would not see that both expressions are the same.
  const isSettled = sql<number>`case when id <= ${sql.lit(settled)} then 1 else 0 end`;
  const ofVerdicts = (found: RawBuilder<unknown>) =>
    hasVerdict ? sql<number>`count(${found})` : sql<number>`0`;
  return await selectPart(reader, ofRuns, part, after)
    .$if(end !== undefined, (query) => query.where("id", "<=", end ?? 0))
    .select(names)
    .select((of) => [
      of.ref(column).$notNull().as("named_run"),
      isSettled.as("is_settled"),
      of.fn.countAll<number>().as("results"),
      ofVerdicts(sql`pass`).as("with_pass"),
      ofVerdicts(sql`case when pass is null then score end`).as("with_score"),
    ])
    .groupBy(names)
    .groupBy(column)
    .groupBy(isSettled)
    .orderBy("results", "desc")
    .limit(maxRowsOfPart + 1)
    .execute();
}

interface CountAfter {
  after: number;
  count: number;
}

/** Whether a part of these runs has more than `count` results after a number. Counts no further than that. */
export async function hasMoreResultsThan(
  reader: Database,
  accountId: string,
  ids: readonly string[],
  { after, count }: CountAfter,
) {
  for (const part of resultsParts) {
    const some = selectPart(reader, { accountId, ids }, part, after)
      .select("id")
      .limit(count + 1)
      .as("some");
    const found = await reader
      .selectFrom(some)
      .select((of) => of.fn.countAll<number>().as("results"))
      .executeTakeFirstOrThrow();
    if (found.results > count) return true;
  }
  return false;
}

/** The number up to which no part of a run has more than `count` results after a number; undefined if no part has as many. */
export async function selectRangeEnd(
  reader: Database,
  accountId: string,
  id: string,
  { after, count }: CountAfter,
) {
  let end: number | undefined;
  for (const part of resultsParts) {
    const last = await selectPart(reader, { accountId, ids: [id] }, part, after)
      .$if(end !== undefined, (query) => query.where("id", "<", end ?? 0))
      .select("id")
      .orderBy("id")
      .offset(count - 1)
      .limit(1)
      .executeTakeFirst();
    end = last?.id ?? end;
  }
  return end;
}

/** The highest number of a result. With one writer at a time, no result can appear below it any more. */
export async function selectHighestId(reader: Database) {
  const { id } = await reader
    .selectFrom("evaluation_results")
    .select((of) => of.fn.max("id").as("id"))
    .executeTakeFirstOrThrow();
  return id ?? 0;
}
