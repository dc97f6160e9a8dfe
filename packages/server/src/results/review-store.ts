import { type RawBuilder, sql } from "kysely";
import type { Database } from "../platform/storage/schema/tables.ts";
import { inParts } from "../platform/words.ts";
import type { SearchFilter } from "./search/filter.ts";
import {
  allOf,
  hasStatus,
  isWithin,
  notIndexable,
  remainingConditions,
  type Search,
  selectResultIds,
} from "./search/search-store.ts";
import { latestCorrectionId } from "./write/stored-results-store.ts";

const idsAtOnce = 1_000;

type Matching = Pick<Search, "accountId" | "filter">;

/** The ids among these whose results match a filter. */
async function selectMatching(reader: Database, { accountId, filter }: Matching, ids: readonly number[]) {
  const { rows } = await sql<{ id: number }>`
    select result.id from evaluation_results as result
    where result.id in (${sql.join(ids)}) and ${allOf(conditionsOf({ accountId, filter }))}`.execute(reader);
  return rows.map(({ id }) => id);
}

interface Nearest {
  /** The evaluator and the revision of a profile whose verdicts are looked up. */
  series: Pick<ReviewRow, "evaluator_id" | "public_id" | "revision">;
  /** In thousandths, like the distance. */
  threshold: number;
  within: number;
  limit: number;
}

/** Ids of unreviewed verdicts with the scores nearest to a threshold, on both sides of it, without full scores. */
export async function selectNearest(
  reader: Database,
  { accountId, filter }: Matching,
  { series, threshold, within, limit }: Nearest,
) {
  const ofSeries = [
    ...conditionsOf({ accountId, filter }),
    sql`result.evaluator_id = ${series.evaluator_id}`,
    isSame("profile_public_id", series.public_id),
    isSame("profile_revision", series.revision),
    sql`not exists (select 1 from evaluation_corrections as correction where correction.result_id = result.id)`,
    sql`not exists (select 1 from evaluation_labels as label where label.result_id = result.id)`,
    ...(filter.runId === undefined
      ? [sql`not exists (select 1 from runs where runs.id = result.run_id and runs.target_kind = 'baseline')`]
      : []),
  ];
  const walk = (range: RawBuilder<unknown>, direction: "asc" | "desc") => sql<{ id: number }>`
    select result.id from evaluation_results as result
    where result.account_id = ${accountId} and result.status = 'success' and ${range}
      and ${notIndexable(allOf(ofSeries))}
    order by result.score_mille ${sql.raw(direction)}, result.id ${sql.raw(direction)} limit ${limit}`;
  const ids: number[] = [];
  for (const query of [
    walk(sql`result.score_mille between ${threshold} and ${Math.min(threshold + within, 999)}`, "asc"),
    walk(sql`result.score_mille < ${threshold} and result.score_mille >= ${threshold - within}`, "desc"),
  ]) {
    const { rows } = await query.execute(reader);
    ids.push(...rows.map(({ id }) => id));
  }
  return ids;
}

/** The results among these whose output is the gold answer, ignoring white space at the ends. */
export async function selectEqualToGold(reader: Database, ids: readonly number[]) {
  const trimmed = (column: string) => sql`trim(${sql.ref(column)}, ${" \t\r\n"})`;
  const { rows } = await sql<{ id: number }>`select result_id as id from evaluation_payloads
    where result_id in (${sql.join(ids)}) and ${trimmed("output")} = ${trimmed("gold_answer")}`.execute(
    reader,
  );
  return new Set(rows.map(({ id }) => id));
}

function conditionsOf({ accountId, filter }: Matching): RawBuilder<unknown>[] {
  const search: Search = { accountId, filter, page: { order: "newest-first", limit: 1 } };
  return [
    sql`result.account_id = ${accountId}`,
    hasStatus(filter),
    ...remainingConditions({ by: "account" }, search),
    ...isWithin("result.id", filter),
  ];
}

function isSame(column: string, value: string | number | null): RawBuilder<unknown> {
  const ref = sql.ref(`result.${column}`);
  return value === null ? sql`${ref} is null` : sql`${ref} = ${value}`;
}

/** The fields of a result that the order of a review depends on, without its texts. */
export type ReviewRow = Awaited<ReturnType<typeof selectReviewRows>>[number];

export async function selectReviewRows(reader: Database, ids: readonly number[]) {
  const rows: Awaited<ReturnType<ReturnType<typeof reviewRows>["execute"]>> = [];
  for (const some of inParts(ids, idsAtOnce))
    rows.push(...(await reviewRows(reader).where("result.id", "in", some).execute()));
  return rows;
}

function reviewRows(reader: Database) {
  return reader
    .selectFrom("evaluation_results as result")
    .select([
      "result.id",
      "result.evaluator_id",
      "result.evaluator_family",
      "result.profile_public_id as public_id",
      "result.profile_revision as revision",
      "result.run_id",
      "result.dataset_id",
      "result.sample_key",
      "result.pass",
      "result.score",
    ])
    .select(latestCorrectionId(reader, "result.id").as("correction_id"))
    .select((of) =>
      of
        .selectFrom("runs")
        .select("runs.id")
        .whereRef("runs.id", "=", "result.run_id")
        .where("runs.target_kind", "=", "baseline")
        .as("baseline_id"),
    )
    .select((of) =>
      of
        .selectFrom("evaluation_labels as label")
        .select("label.id")
        .whereRef("label.result_id", "=", "result.id")
        .limit(1)
        .as("label_id"),
    );
}

/** Other verdicts on the same samples in the same runs. */
export async function selectOtherVerdicts(
  reader: Database,
  accountId: string,
  rows: readonly ReviewRow[],
): Promise<ReviewRow[]> {
  const known = new Set(rows.map(({ id }) => id));
  const others: ReviewRow[] = [];
  for (const some of inParts(rows, idsAtOnce)) {
    const keys = [...new Set(some.flatMap(({ sample_key }) => sample_key ?? []))];
    const runs = [...new Set(some.flatMap(({ run_id }) => run_id ?? []))];
    if (keys.length === 0 || runs.length === 0) continue;
    const found = await reviewRows(reader)
      .where("result.account_id", "=", accountId)
      .where("result.status", "=", "success")
      .where("result.sample_key", "in", keys)
      .where("result.run_id", "in", runs)
      .execute();
    for (const row of found) {
      if (known.has(row.id)) continue;
      known.add(row.id);
      others.push(row);
    }
  }
  return others;
}

/** The number of primary keys that one statement looks up. */
const drawsAtOnce = 2_000;
/** The most draws: if one in a thousand results matches, about fifty ids are found, however many are wanted. */
const maxDraws = 50_000;

interface DrawWanted {
  accountId: string;
  filter: SearchFilter;
  seed: number;
  /** How many ids to draw. */
  count: number;
}

/** Ids of matching results, all equally likely: ids are drawn from the whole range, and those that match are kept. */
export async function drawCandidates(
  reader: Database,
  { accountId, filter, seed, count }: DrawWanted,
): Promise<number[]> {
  const end = async (order: "newest-first" | "oldest-first") =>
    (await selectResultIds(reader, { accountId, filter, page: { order, limit: 1 } }))[0];
  const [first, last] = [await end("oldest-first"), await end("newest-first")];
  if (first === undefined || last === undefined) return [];
  const drawn = new Set<number>();
  for (let from = 0; from < maxDraws && drawn.size < count; from += drawsAtOnce) {
    const ids = Array.from({ length: drawsAtOnce }, (_, index) => drawId(seed, from + index, first, last));
    const matching = await selectMatching(reader, { accountId, filter }, [...new Set(ids)]);
    for (const id of matching) drawn.add(id);
  }
  return [...drawn];
}

/** Draws the same id for the same seed on every machine. */
function drawId(seed: number, index: number, first: number, last: number): number {
  return first + Number(Bun.hash(`${seed} ${index}`) % BigInt(last - first + 1));
}
