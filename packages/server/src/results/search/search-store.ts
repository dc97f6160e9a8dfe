import { type RawBuilder, sql } from "kysely";
import { sampleKey, toFlag } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import {
  type AccessPath,
  accessPathsOf,
  type ColumnMatch,
  columnMatches,
  type ExplanationGroup,
  explanationGroups,
  type ResultFilter,
  type ScoreGroup,
  type SearchFilter,
  type SearchPage,
  thousandthsPerStep,
} from "./filter.ts";

/** How far each access path is counted to find the rarest. That many index entries are read in half a millisecond. */
const maxCounted = 1_000;

type Condition = RawBuilder<unknown>;
type Id = { id: number };

export interface Search {
  accountId: string;
  filter: SearchFilter;
  page: SearchPage;
}

export interface ChosenPath {
  path: AccessPath;
  /** How many entries the path has, counted up to a bound. */
  count: number;
}

interface CountedEntries {
  /** Its place among the paths of the filter. */
  path: number;
  count: number;
  /** The id of the last entry that was counted; null if the entries are not in the order of ids. */
  last_id: number | null;
}

/** The ids of an account's results of a filter, a page of them. */
export async function selectResultIds(reader: Database, search: Search): Promise<number[]> {
  const [onlyPath, ...otherPaths] = accessPathsOf(search.filter);
  const path = otherPaths.length === 0 ? onlyPath : (await choosePath(reader, search, maxCounted)).path;
  const scans = scansOf(path, search, remainingConditions(path, search));
  const [first] = scans;
  if (first === undefined) return [];
  const query = scans.length === 1 ? first : sql<Id>`${unionOf(scans)} ${endOf("id", search.page)}`;
  const { rows } = await query.execute(reader);
  return rows.map(({ id }) => id);
}

/**
 * The scan of a common path may be long if another part of the filter is rare, and databases estimate badly which is which
 * (SQLite has no table statistics at all). So entries are counted up to a bound, from where the page starts, and the path with
 * the fewest is chosen. If several paths reach the bound and their intersection is rare, one is still scanned to the end.
 */
export async function choosePath(reader: Database, search: Search, upTo: number): Promise<ChosenPath> {
  const paths = accessPathsOf(search.filter);
  const page = { ...search.page, limit: upTo };
  const last = sql.raw(page.order === "newest-first" ? "min" : "max");
  const counts = paths.map((path, index) => {
    const scans = scansOf(path, { ...search, page }, []);
    const entries =
      scans.length === 0
        ? sql`select 0 as count, 0 as last_id`
        : sql`select count(*) as count, ${last}(id) as last_id
          from (select id from (${unionOf(scans)}) as walks limit ${upTo}) as entries`;
    // The entries of several scans do not come in the order of ids.
    const lastId = scans.length === 1 ? sql`last_id` : sql`cast(null as bigint)`;
    return sql`select ${sql.lit(index)} as path, count, ${lastId} as last_id from (${entries}) as counted`;
  });
  const { rows } = await sql<CountedEntries>`${sql.join(counts, sql` union all `)}`.execute(reader);
  const direction = page.order === "newest-first" ? 1 : -1;
  const reach = ({ last_id }: CountedEntries) => (last_id === null ? Infinity : last_id * direction);
  const [rarest] = rows.toSorted((a, b) => a.count - b.count || reach(a) - reach(b) || a.path - b.path);
  return { path: paths[rarest?.path ?? 0] ?? paths[0], count: rarest?.count ?? upTo };
}

/** The index scans that together find the path's results, each in the page's order and at most its length. */
export function scansOf(path: AccessPath, search: Search, remaining: readonly Condition[]): RawBuilder<Id>[] {
  if (path.by === "tag") return [scanTag(path, search, remaining)];
  if (path.by === "explanation") {
    return explanationGroups(path.isExplained).map((group) =>
      scanResults([isInExplanationGroup(group)], search, remaining),
    );
  }
  if (path.by === "samples") {
    return path.keys.map((value) =>
      scanResults([isEqual({ column: "sample_key", value })], search, remaining),
    );
  }
  if (path.by === "score") {
    return path.groups.map((group) => {
      const cut = group.isCut ? isBetweenScores(search.filter) : [];
      return scanResults([isInGroup(group)], search, [...cut, ...remaining]);
    });
  }
  return [scanResults(path.by === "column" ? [isEqual(path)] : [], search, remaining)];
}

function scanResults(
  conditions: readonly Condition[],
  { accountId, filter, page }: Search,
  remaining: readonly Condition[],
): RawBuilder<Id> {
  const all = [
    sql`result.account_id = ${accountId}`,
    hasStatus(filter),
    ...conditions,
    ...isWithin("result.id", filter),
    ...(remaining.length === 0 ? [] : [notIndexable(allOf(remaining))]),
  ];
  return sql`select result.id from evaluation_results as result where ${allOf(all)} ${endOf("result.id", page)}`;
}

function scanTag(
  tag: { name: string; value: string },
  { accountId, filter, page }: Search,
  remaining: readonly Condition[],
): RawBuilder<Id> {
  // A subquery of one row, not a join: no planner can turn it round and scan the results instead.
  const result = sql`(select ${allOf(remaining)} from evaluation_results as result where result.id = tag.result_id)`;
  const all = [
    isTagged(tag, accountId),
    ...isWithin("tag.result_id", filter),
    ...(remaining.length === 0 ? [] : [notIndexable(result)]),
  ];
  return sql`select tag.result_id as id from evaluation_tags as tag where ${allOf(all)} ${endOf("tag.result_id", page)}`;
}

export function unionOf(scans: readonly RawBuilder<Id>[]): RawBuilder<Id> {
  return sql`${sql.join(
    scans.map((scan) => sql`select id from (${scan}) as walk`),
    sql` union all `,
  )}`;
}

function endOf(id: string, { order, limit }: SearchPage): Condition {
  return sql`order by ${sql.ref(id)} ${sql.raw(order === "newest-first" ? "desc" : "asc")} limit ${limit}`;
}

/**
 * A condition in a shape that no index serves, so that every planner scans the index of the access path. PostgreSQL assumes that half
 * of the rows meet it: by its own estimate of many conditions hardly any would, and it would read and sort the whole path.
 */
export function notIndexable(condition: Condition): Condition {
  return sql`coalesce(${condition}, false)`;
}

/** The conditions that remain to be checked for each result that the path finds. */
export function remainingConditions(path: AccessPath, { accountId, filter }: Search): Condition[] {
  const columns = columnMatches(filter).filter(
    ({ column }) => path.by !== "column" || path.column !== column,
  );
  const tags = Object.entries(filter.tags ?? {})
    .map(([name, value]) => ({ name, value }))
    .filter(({ name }) => path.by !== "tag" || path.name !== name);
  return [
    ...(path.by === "tag" ? [hasStatus(filter)] : []),
    ...columns.map(isEqual),
    ...(path.by === "samples" || filter.datasetSampleIds === undefined
      ? []
      : [isOfSamples(filter.datasetSampleIds.map(sampleKey))]),
    ...otherConditions(path.by === "explanation" ? { ...filter, isExplained: undefined } : filter),
    ...(path.by === "score" ? [] : isBetweenScores(filter)),
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

function isOfSamples(keys: readonly string[]): Condition {
  return keys.length === 0 ? sql`1 = 0` : sql`result.sample_key in (${sql.join(keys)})`;
}

/** Written literally as in the conditions of the partial indexes: SQLite recognises nothing else. */
export function hasStatus({ status }: SearchFilter): Condition {
  const literal = sql`result.status = ${sql.lit(status)}`;
  return status === "success" ? literal : sql`${literal} and result.status <> 'success'`;
}

function isTagged({ name, value }: { name: string; value: string }, accountId: string): Condition {
  return sql`tag.account_id = ${accountId} and tag.name = ${name} and tag.value = ${value}`;
}

function isInGroup({ unit, value }: ScoreGroup): Condition {
  if (unit === "thousandth") return sql`result.score_mille = ${value}`;
  return sql`(result.score_mille / ${sql.lit(thousandthsPerStep)}) = ${value}`;
}

function isBetweenScores({ minScore, maxScore }: SearchFilter): Condition[] {
  return [
    ...compare("result.counted_score", ">=", minScore),
    ...compare("result.counted_score", "<=", maxScore),
  ];
}

function isBetweenTimes({ createdAfter, createdBefore }: SearchFilter): Condition[] {
  return [
    ...compare("result.created_at", ">", createdAfter),
    ...compare("result.created_at", "<", createdBefore),
  ];
}

export function isWithin(id: string, { afterId, beforeId }: SearchFilter): Condition[] {
  return [...compare(id, ">", afterId), ...compare(id, "<", beforeId)];
}

function compare(column: string, operator: ">" | "<" | ">=" | "<=", bound: number | undefined): Condition[] {
  return bound === undefined ? [] : [sql`${sql.ref(column)} ${sql.raw(operator)} ${bound}`];
}

export function allOf(conditions: readonly Condition[]): Condition {
  return sql.join(conditions, sql` and `);
}

/** The parts of a filter that no index serves alone. */
export function otherConditions({
  isExternal,
  isExplained,
  hasRun,
  profileRevision,
}: ResultFilter): Condition[] {
  return [
    ...(isExternal === undefined ? [] : [sql`result.is_external = 1`]),
    ...(profileRevision === undefined ? [] : [sql`result.profile_revision = ${profileRevision}`]),
    ...(isExplained === undefined ? [] : [hasExplanation(isExplained)]),
    ...(hasRun === undefined ? [] : [hasRun ? sql`result.run_id is not null` : sql`result.run_id is null`]),
  ];
}

/** An evaluation without a verdict has no explanation. */
function hasExplanation(isExplained: boolean): Condition {
  const explained = sql`(result.status = 'success' and (${sql.join(
    explanationGroups(true).map(isInExplanationGroup),
    sql` or `,
  )}))`;
  return isExplained ? explained : sql`not ${explained}`;
}

function isInExplanationGroup({ strategy, pass }: ExplanationGroup): Condition {
  const isOfStrategy = sql`result.explain_strategy = ${sql.lit(strategy)}`;
  return pass === undefined
    ? isOfStrategy
    : sql`(${isOfStrategy} and result.pass = ${sql.lit(toFlag(pass))})`;
}
