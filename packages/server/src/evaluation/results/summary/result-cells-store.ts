import { type Expression, type RawBuilder, sql } from "kysely";
import { microsPerDay } from "../../../storage/micros.ts";
import { toThousandths } from "../record/result-rows.ts";
import { columnMatches } from "../search/access-paths.ts";
import type { ResultFilter } from "../search/result-filter.ts";
import type { SummaryCell } from "./group-totals-store.ts";
import type { GroupKey } from "./summary-dimensions.ts";

type Fragment = RawBuilder<unknown>;

/** How each column of a group is read from a result, so that cells look like those of the rollup. */
const columnSources: Record<keyof GroupKey, Fragment> = {
  evaluator_id: sql`result.evaluator_id`,
  evaluator_family: sql`coalesce(result.evaluator_family, '')`,
  profile_name: sql`coalesce(result.profile_name, '')`,
  profile_public_id: sql`coalesce(result.profile_public_id, '')`,
  profile_revision: sql`coalesce(result.profile_revision, 0)`,
  app: sql`result.app`,
  run_id: sql`coalesce(result.run_id, '')`,
  day: sql`result.created_at / ${sql.lit(microsPerDay)}`,
  tag: sql`tagged.value`,
};

/** All results of a filter, one row per result, as an unexecuted statement. `tag` is the name of the tag to group by. */
export function resultCells(
  accountId: string,
  filter: ResultFilter,
  columns: readonly (keyof GroupKey)[],
  tag: string | undefined,
): Expression<SummaryCell> {
  const fields = columns.map((column) => sql`${columnSources[column]} as ${sql.ref(column)}`);
  const conditions = sql.join(
    [sql`result.account_id = ${accountId}`, ...filterConditions(accountId, filter)],
    sql` and `,
  );
  const resultsOf = (status: Fragment) => sql`select ${sql.join([
    ...fields,
    sql`case when result.status <> 'success' then result.status
      when result.counted_pass is null then 'none'
      when result.counted_pass = 1 then 'pass' else 'fail' end as verdict`,
    sql`coalesce(result.score_mille, -1) as score_mille`,
    sql`1 as count`,
    sql`coalesce(result.counted_score, 0) as score_sum`,
    // PostgreSQL rejects a product too small for a double; such a square adds nothing.
    sql`coalesce(case when result.counted_score > 1e-150 then result.counted_score * result.counted_score end, 0)
      as score_sum_of_squares`,
  ])}
    from evaluation_results as result ${tag === undefined ? sql`` : sql`left join tagged on tagged.result_id = result.id`}
    where ${conditions} and ${status}`;
  // Literally as in the conditions of the two kinds of partial indexes.
  const verdicts = resultsOf(sql`result.status = 'success'`);
  const others = resultsOf(sql`result.status <> 'success'`);
  const parts = filter.status === "success" ? [verdicts] : filter.status ? [others] : [verdicts, others];
  // Found once instead of once for each result.
  const tagged = sql`with tagged as materialized (
    select result_id, value from evaluation_tags where account_id = ${accountId} and name = ${tag})`;
  return sql<SummaryCell>`(${tag === undefined ? sql`` : tagged} ${sql.join(parts, sql` union all `)})`;
}

function filterConditions(accountId: string, filter: ResultFilter): Fragment[] {
  const { tags, minScore, maxScore, createdAfter, createdBefore, afterId, beforeId } = filter;
  const bounds: [column: string, operator: Fragment, value: number | undefined][] = [
    ["counted_score", sql`>=`, minScore],
    ["counted_score", sql`<=`, maxScore],
    // The same again, rounded, for the index.
    ["score_mille", sql`>=`, toThousandthsWithin(minScore)],
    ["score_mille", sql`<=`, toThousandthsWithin(maxScore)],
    ["created_at", sql`>`, createdAfter],
    ["created_at", sql`<`, createdBefore],
    ["id", sql`>`, afterId],
    ["id", sql`<`, beforeId],
  ];
  return [
    ...(filter.status === undefined ? [] : [sql`result.status = ${filter.status}`]),
    ...columnMatches(filter).map(({ column, value }) => sql`${sql.ref(`result.${column}`)} = ${value}`),
    ...bounds.flatMap(([column, operator, value]) =>
      value === undefined ? [] : [sql`${sql.ref(`result.${column}`)} ${operator} ${value}`],
    ),
    ...Object.entries(tags ?? {}).map(
      ([name, value]) => sql`result.id in (select result_id from evaluation_tags
        where account_id = ${accountId} and name = ${name} and value = ${value})`,
    ),
  ];
}

/** Bounds beyond the range of scores would not fit the column. */
function toThousandthsWithin(score: number | undefined): number | undefined {
  return score === undefined ? undefined : toThousandths(Math.min(Math.max(score, 0), 1));
}
