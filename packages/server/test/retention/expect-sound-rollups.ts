import { expect } from "bun:test";
import { sql } from "kysely";
import type { Database } from "../../src/platform/storage/schema/tables.ts";
import { isPostgres } from "../../src/platform/storage/store.ts";
import { type CountsPosition, deleteEmptyCounts } from "../../src/results/delete/delete-results.ts";
import { countErrorFindings } from "../../src/results/error-findings-store.ts";
import { rollUpSomeTags } from "../../src/results/summary/tags.ts";
import { countableColumns, countResults } from "../../src/results/write/counts-store.ts";
import { mergeCounts } from "../../src/results/write/merge-counts.ts";
import { expectEventually } from "../support/eventually.ts";
import type { TestPresage } from "../support/presage/presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { day } from "./many-results.ts";

const asked: Record<string, unknown>[] = [
  { group_by: ["day"] },
  { group_by: ["evaluator", "profile", "app", "day"] },
  { group_by: ["run"], status: "success" },
  { group_by: ["tag"], tag: "env" },
  { group_by: ["tag", "day"], tag: "env", pass: true },
];

/** Compares every rollup with a recount of the results that are stored, and summaries of both. */
export async function expectSoundRollups(
  presage: Pick<TestPresage, "call">,
  database: Database,
): Promise<void> {
  const { summary } = evaluationResultsClient(() => presage);
  for (const body of asked) {
    const [rollups, results] = [await summary(body), await summary({ ...body, after_id: 0 })];
    expect([rollups.source, results.source]).toEqual(["rollups", "results"]);
    expect(rounded(rollups.groups)).toEqual(rounded(results.groups));
  }
  if (isPostgres(database)) await mergeAll(database);
  let place: CountsPosition | undefined;
  do place = (await deleteEmptyCounts(database, place, 2, 3)).next;
  while (place !== undefined);
  const counted = await selectCounted(database);
  const counts = await database.selectFrom("evaluation_counts").selectAll().execute();
  expect(sorted(counts)).toEqual(sorted(countResults(counted).counts));
  await expectSameByDay(database);
  const findings = await database.selectFrom("error_finding_counts").selectAll().execute();
  expect(sorted(findings)).toEqual(sorted(countErrorFindings(counted.map((row) => ({ row, texts: row })))));
  await expectSameByTag(database);
}

/** Merges all counts, including those a server is merging, during which nobody else can merge. */
async function mergeAll(database: Database): Promise<void> {
  await expectEventually(async () => {
    await mergeCounts(database);
    const tables = ["evaluation_count_deltas", "error_finding_count_deltas"] as const;
    const left = await Promise.all(tables.map((table) => database.selectFrom(table).selectAll().execute()));
    return left.flat().length;
  }, 0);
}

/** Compares the totals over all series, which triggers keep. */
async function expectSameByDay(database: Database): Promise<void> {
  const counts = await database.selectFrom("evaluation_total_counts").selectAll().execute();
  const recounted = await database
    .selectFrom("evaluation_counts as counts")
    .innerJoin("evaluation_series as series", "series.id", "counts.series_id")
    .select(["account_id", "day", "verdict", "score_mille"])
    .select(({ fn }) => [
      sql<number>`cast(${fn.sum("count")} as int)`.as("count"),
      fn.sum<number>("score_sum").as("score_sum"),
      fn.sum<number>("score_sum_of_squares").as("score_sum_of_squares"),
    ])
    .where("spans_runs", "=", 1)
    .groupBy(["account_id", "day", "verdict", "score_mille"])
    .execute();
  expect(sorted(counts)).toEqual(sorted(recounted));
}

/** Compares the counts by tag, as far as each name has been counted. */
async function expectSameByTag(database: Database): Promise<void> {
  while (await rollUpSomeTags(database));
  const { rows: counted } = await sql<object>`
    select name, value, app, day, cast(sum(count) as int) as count, sum(score_sum) as score_sum
    from evaluation_tag_counts as counts join evaluation_tag_series as series on series.id = counts.series_id
      join evaluation_tag_values as tag on tag.id = series.tag_id
    where count <> 0 group by name, value, app, day`.execute(database);
  const { rows: recounted } = await sql<object>`
    select tag.name, tag.value, app, created_at / ${sql.lit(day)} as day, cast(count(*) as int) as count,
      sum(coalesce(score, 0)) as score_sum
    from evaluation_tags as tag join evaluation_results as result on result.id = tag.result_id
      join evaluation_tag_names as names on names.account_id = tag.account_id and names.name = tag.name
    where result.id <= coalesce(counted_up_to, (select up_to from evaluation_tag_progress))
    group by tag.name, tag.value, app, created_at / ${sql.lit(day)}`.execute(database);
  expect(sorted(counted)).toEqual(sorted(recounted));
}

async function selectCounted(database: Database) {
  return await database
    .selectFrom("evaluation_results")
    .innerJoin("evaluation_payloads as payload", "payload.result_id", "evaluation_results.id")
    .select(countableColumns)
    .select("payload.additional_info")
    .execute();
}

/** The rows in a fixed order, rounded so that the order of additions does not matter. */
function sorted<Row extends object>(rows: readonly Row[]): Row[] {
  return rows
    .map((row) => JSON.stringify(rounded(row), Object.keys(row).sort()))
    .sort()
    .map((line): Row => JSON.parse(line));
}

function rounded(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, part: unknown) =>
    typeof part === "number" ? Number(part.toFixed(9)) + 0 : part,
  );
}
