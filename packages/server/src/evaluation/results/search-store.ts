import { type RawBuilder, sql } from "kysely";
import type { Database, Micros } from "../../storage/tables.ts";
import { type ColumnMatch, columnMatches, type Lead, possibleLeads } from "./leads.ts";
import type { Page, SearchFilter } from "./result-filter.ts";
import { milleOfStep, type ScoreRun } from "./score-runs.ts";

/** How far the leads of a search are counted to find the rarest. So many entries of an index are read in a millisecond. */
const maxCounted = 10_000;

type Condition = RawBuilder<unknown>;

/** The account's results of a filter, a page of them, by their ids alone. */
export async function selectResultIds(
  reader: Database,
  accountId: string,
  filter: SearchFilter,
  page: Page,
): Promise<number[]> {
  const lead = await chooseLead(reader, accountId, filter);
  if (lead.by === "score" && lead.runs.length === 0) return [];
  const { rows } = await selectLedBy(lead, accountId, filter, page).execute(reader);
  return rows.map(({ id }) => id);
}

/**
 * Times as ids, which times follow: results after the first time have greater ids than `afterId`, and those before the
 * second have smaller ids than `beforeId`.
 */
export async function selectIdsAtTimes(
  reader: Database,
  createdAfter: Micros | undefined,
  createdBefore: Micros | undefined,
): Promise<{ afterId: number | null; beforeId: number | null }> {
  const lastUpTo = sql`select id from evaluation_results where created_at <= ${createdAfter}
    order by created_at desc, id desc limit 1`;
  const firstFrom = sql`select id from evaluation_results where created_at >= ${createdBefore}
    order by created_at, id limit 1`;
  // Where nothing is as late as that, results that come while the search goes on may be.
  const { rows } = await sql<{ afterId: number | null; beforeId: number | null }>`select
    ${createdAfter === undefined ? sql`null` : sql`(${lastUpTo})`} as "afterId",
    ${
      createdBefore === undefined
        ? sql`null`
        : sql`coalesce((${firstFrom}), (select last_id + 1 from evaluation_clock))`
    } as "beforeId"`.execute(reader);
  return rows[0] ?? { afterId: null, beforeId: null };
}

/**
 * A common lead would be walked a long way to results that fit a rare one, and databases guess badly which is which (SQLite
 * has no figures of its tables at all). So the leads are counted, up to a bound, and the rarest one leads.
 */
async function chooseLead(reader: Database, accountId: string, filter: SearchFilter): Promise<Lead> {
  const leads = possibleLeads(filter);
  if (leads.length === 1) return leads[0];
  const counts = leads.map(
    (lead, index) => sql`(select count(*) from (
      ${selectEntriesOf(lead, accountId, filter)} limit ${maxCounted}
    ) as entries) as ${sql.ref(String(index))}`,
  );
  const { rows } = await sql<Record<string, number>>`select ${sql.join(counts)}`.execute(reader);
  const countOf = (index: number) => rows[0]?.[String(index)] ?? maxCounted;
  return leads.reduce(
    (best, lead, index) => (countOf(index) < best.count ? { lead, count: countOf(index) } : best),
    { lead: leads[0] as Lead, count: countOf(0) },
  ).lead;
}

function selectEntriesOf(lead: Lead, accountId: string, filter: SearchFilter): RawBuilder<{ id: number }> {
  if (lead.by === "tag") {
    return sql`select result_id as id from evaluation_tags as tag
      where ${all([...isTagged(lead, accountId), ...isWithin("tag.result_id", filter)])}`;
  }
  const entries = (conditions: Condition[]) => sql<{
    id: number;
  }>`select result.id from evaluation_results as result
    where ${all([isOfAccount(accountId, filter), ...conditions, ...isWithin("result.id", filter)])}`;
  if (lead.by !== "score") return entries(leadConditions(lead));
  if (lead.runs.length === 0) return entries([sql`1 = 0`]);
  return sql`select id from (${sql.join(
    lead.runs.map((run) => entries([isInRun(run)])),
    sql` union all `,
  )}) as runs`;
}

function selectLedBy(
  lead: Lead,
  accountId: string,
  filter: SearchFilter,
  { order, limit }: Page,
): RawBuilder<{ id: number }> {
  const end = (id: string) =>
    sql`order by ${sql.ref(id)} ${sql.raw(order === "newest-first" ? "desc" : "asc")} limit ${limit}`;
  const others = otherConditions(lead, accountId, filter);
  if (lead.by === "tag") {
    // A subquery of one row, not a join: no planner can turn it round and walk the results instead.
    return sql`select tag.result_id as id from evaluation_tags as tag
      where ${all([...isTagged(lead, accountId), ...isWithin("tag.result_id", filter)])}
        and 1 = (select 1 from evaluation_results as result
          where result.id = tag.result_id and ${all([hasStatus(filter), ...others])})
      ${end("tag.result_id")}`;
  }
  const walk = (conditions: Condition[]) => sql<{
    id: number;
  }>`select result.id from evaluation_results as result
    where ${all([isOfAccount(accountId, filter), ...conditions, ...isWithin("result.id", filter), ...others])}
    ${end("result.id")}`;
  if (lead.by !== "score") return walk(leadConditions(lead));
  const runs = lead.runs.map((run) => {
    const cut = run.isCut ? isBetweenScores(filter) : [];
    return sql`select id from (${walk([isInRun(run), ...cut])}) as run`;
  });
  return sql`${sql.join(runs, sql` union all `)} ${end("id")}`;
}

function leadConditions(lead: Exclude<Lead, { by: "tag" | "score" }>): Condition[] {
  return lead.by === "column" ? [sql`${sql.ref(`result.${lead.column}`)} = ${lead.value}`] : [];
}

/** What the lead leaves to be held against each result that it finds. */
function otherConditions(lead: Lead, accountId: string, filter: SearchFilter): Condition[] {
  const columns = columnMatches(filter).filter(
    ({ column }) => lead.by !== "column" || lead.column !== column,
  );
  const tags = Object.entries(filter.tags ?? {})
    .map(([name, value]) => ({ name, value }))
    .filter(({ name }) => lead.by !== "tag" || lead.name !== name);
  return [
    ...columns.map(isEqualWithoutIndex),
    ...(lead.by === "score" ? [] : isBetweenScores(filter)),
    ...tags.map(
      (tag) => sql`result.id = (select tag.result_id from evaluation_tags as tag
        where ${all(isTagged(tag, accountId))} and tag.result_id = result.id)`,
    ),
  ];
}

/** An equality that no index answers, so that every planner walks the index of the lead. */
function isEqualWithoutIndex({ column, value }: ColumnMatch): Condition {
  const never = typeof value === "number" ? sql.lit(-1) : sql.lit("");
  return sql`coalesce(${sql.ref(`result.${column}`)}, ${never}) = ${value}`;
}

function isOfAccount(accountId: string, filter: SearchFilter): Condition {
  return sql`result.account_id = ${accountId} and ${hasStatus(filter)}`;
}

/** In the words of the partial indexes, literally: SQLite compares nothing else. */
function hasStatus({ status }: SearchFilter): Condition {
  const literal = sql`result.status = ${sql.lit(status)}`;
  return status === "success" ? literal : sql`${literal} and result.status <> 'success'`;
}

function isTagged({ name, value }: { name: string; value: string }, accountId: string): Condition[] {
  return [sql`tag.account_id = ${accountId} and tag.name = ${name} and tag.value = ${value}`];
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

function isWithin(id: string, { afterId, beforeId }: SearchFilter): Condition[] {
  return [
    ...(afterId === undefined ? [] : [sql`${sql.ref(id)} > ${afterId}`]),
    ...(beforeId === undefined ? [] : [sql`${sql.ref(id)} < ${beforeId}`]),
  ];
}

function all(conditions: readonly Condition[]): Condition {
  return sql.join(conditions, sql` and `);
}
