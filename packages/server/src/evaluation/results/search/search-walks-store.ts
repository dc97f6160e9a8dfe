import { type RawBuilder, sql } from "kysely";
import { milleOfStep, type ScoreRun } from "../summary/score-runs.ts";
import { type ColumnMatch, columnMatches, type Lead } from "./access-paths.ts";
import type { Page, SearchFilter } from "./result-filter.ts";

type Condition = RawBuilder<unknown>;

export type Id = { id: number };

export interface Search {
  accountId: string;
  filter: SearchFilter;
  page: Page;
}

/** The ways through the indexes that together find what fits the lead, each in the page's order and no longer than it. */
export function walksOf(lead: Lead, search: Search, held: readonly Condition[]): RawBuilder<Id>[] {
  if (lead.by === "tag") return [walkOfTag(lead, search, held)];
  if (lead.by === "score") {
    return lead.runs.map((run) => {
      const cut = run.isCut ? isBetweenScores(search.filter) : [];
      return walkOfResults([isInRun(run)], search, [...cut, ...held]);
    });
  }
  return [walkOfResults(lead.by === "column" ? [isEqual(lead)] : [], search, held)];
}

function walkOfResults(
  conditions: readonly Condition[],
  { accountId, filter, page }: Search,
  held: readonly Condition[],
): RawBuilder<Id> {
  const all = [
    sql`result.account_id = ${accountId}`,
    hasStatus(filter),
    ...conditions,
    ...isWithin("result.id", filter),
    ...(held.length === 0 ? [] : [unseen(allOf(held))]),
  ];
  return sql`select result.id from evaluation_results as result where ${allOf(all)} ${endOf("result.id", page)}`;
}

function walkOfTag(
  tag: { name: string; value: string },
  { accountId, filter, page }: Search,
  held: readonly Condition[],
): RawBuilder<Id> {
  // A subquery of one row, not a join: no planner can turn it round and walk the results instead.
  const result = sql`(select ${allOf(held)} from evaluation_results as result where result.id = tag.result_id)`;
  const all = [
    isTagged(tag, accountId),
    ...isWithin("tag.result_id", filter),
    ...(held.length === 0 ? [] : [unseen(result)]),
  ];
  return sql`select tag.result_id as id from evaluation_tags as tag where ${allOf(all)} ${endOf("tag.result_id", page)}`;
}

/** Walks one after the other. */
export function unionOf(walks: readonly RawBuilder<Id>[]): RawBuilder<Id> {
  return sql`${sql.join(
    walks.map((walk) => sql`select id from (${walk}) as walk`),
    sql` union all `,
  )}`;
}

export function endOf(id: string, { order, limit }: Page): Condition {
  return sql`order by ${sql.ref(id)} ${sql.raw(order === "newest-first" ? "desc" : "asc")} limit ${limit}`;
}

/**
 * A condition in a shape that no index answers, so that every planner walks the index of the lead, and whose share PostgreSQL
 * takes for a half: by its own estimate of many conditions hardly anything is left, and it would read and sort all of the lead.
 */
function unseen(condition: Condition): Condition {
  return sql`coalesce(${condition}, false)`;
}

/** What the lead leaves to be held against each result that it finds. */
export function heldAgainst(lead: Lead, { accountId, filter }: Search): Condition[] {
  const columns = columnMatches(filter).filter(
    ({ column }) => lead.by !== "column" || lead.column !== column,
  );
  const tags = Object.entries(filter.tags ?? {})
    .map(([name, value]) => ({ name, value }))
    .filter(({ name }) => lead.by !== "tag" || lead.name !== name);
  return [
    ...(lead.by === "tag" ? [hasStatus(filter)] : []),
    ...columns.map(isEqual),
    ...(lead.by === "score" ? [] : isBetweenScores(filter)),
    ...isBetweenTimes(filter),
    ...tags.map(
      (tag) => sql`result.id = (select tag.result_id from evaluation_tags as tag
        where ${isTagged(tag, accountId)} and tag.result_id = result.id)`,
    ),
  ];
}

function isEqual({ column, value }: ColumnMatch): Condition {
  return sql`${sql.ref(`result.${column}`)} = ${value}`;
}

/** In the words of the partial indexes, literally: SQLite compares nothing else. */
function hasStatus({ status }: SearchFilter): Condition {
  const literal = sql`result.status = ${sql.lit(status)}`;
  return status === "success" ? literal : sql`${literal} and result.status <> 'success'`;
}

function isTagged({ name, value }: { name: string; value: string }, accountId: string): Condition {
  return sql`tag.account_id = ${accountId} and tag.name = ${name} and tag.value = ${value}`;
}

function isInRun({ unit, value }: ScoreRun): Condition {
  if (unit === "mille") return sql`result.score_mille = ${value}`;
  return sql`(result.score_mille / ${sql.lit(milleOfStep)}) = ${value}`;
}

function isBetweenScores({ minScore, maxScore }: SearchFilter): Condition[] {
  return [
    ...(minScore === undefined ? [] : [sql`result.counted_score >= ${minScore}`]),
    ...(maxScore === undefined ? [] : [sql`result.counted_score <= ${maxScore}`]),
  ];
}

function isBetweenTimes({ createdAfter, createdBefore }: SearchFilter): Condition[] {
  return [
    ...(createdAfter === undefined ? [] : [sql`result.created_at > ${createdAfter}`]),
    ...(createdBefore === undefined ? [] : [sql`result.created_at < ${createdBefore}`]),
  ];
}

function isWithin(id: string, { afterId, beforeId }: SearchFilter): Condition[] {
  return [
    ...(afterId === undefined ? [] : [sql`${sql.ref(id)} > ${afterId}`]),
    ...(beforeId === undefined ? [] : [sql`${sql.ref(id)} < ${beforeId}`]),
  ];
}

function allOf(conditions: readonly Condition[]): Condition {
  return sql.join(conditions, sql` and `);
}
