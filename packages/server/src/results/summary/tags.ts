import { setTimeout as sleep } from "node:timers/promises";
import { type Expression, type RawBuilder, sql } from "kysely";
import { microsPerDay } from "../../platform/storage/columns.ts";
import { firstWriterLock } from "../../platform/storage/sample-columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import type { GroupKey } from "../search/filter.ts";
import { type Folder, foldSoon } from "../write/fold.ts";
import { selectLastSettled } from "../write/results-store.ts";
import { filterConditions, groupColumns, statusConditions } from "./result-cells-store.ts";
import {
  type CountedTag,
  type RollupFilter,
  rollupCells,
  type SummaryCell,
  seriesMatches,
  verdictsOf,
} from "./summary-store.ts";

type Fragment = RawBuilder<unknown>;

/** What a series of a tag has in common, and how it is read from a result. */
const seriesSources = {
  app: sql`result.app`,
  evaluator_id: sql`result.evaluator_id`,
  evaluator_family: sql`coalesce(result.evaluator_family, '')`,
  profile_name: sql`coalesce(result.profile_name, '')`,
  profile_public_id: sql`coalesce(result.profile_public_id, '')`,
  profile_revision: sql`coalesce(result.profile_revision, 0)`,
} as const;

/**
 * The tags of `result`, one a row, as a join: `tagged.key` and `tagged.value`. From the payload, since the tags' own table is not in
 * the order of results.
 */
function joinTags(database: Database): Fragment {
  const tags = isPostgres(database)
    ? sql`lateral json_each_text(payload.tags::json)`
    : sql`json_each(payload.tags)`;
  // SQLite joins them in this order only.
  return sql`cross join evaluation_payloads as payload cross join ${tags} as tagged`;
}

/** Belongs to `joinTags`. */
const isPayloadOfResult = sql`payload.result_id = result.id`;

/** How a result was counted by tag: with its evaluator's verdict, which never changes. */
function evaluatorsVerdict(database: Database) {
  const mille = sql`result.score * 1000`;
  const whole = isPostgres(database) ? sql`floor(${mille})` : sql`cast(${mille} as integer)`;
  return {
    verdict: verdictOf(sql`result.pass`),
    // As `toThousandths` rounds it; PostgreSQL's own rounding goes to even numbers.
    score_mille: sql`cast(coalesce(${whole} + case when ${mille} - ${whole} >= 0.5 then 1 else 0 end, -1) as integer)`,
    score: sql`coalesce(result.score, 0)`,
  };
}

/** How a result counts now: with the latest correction's verdict. */
const countedVerdict = {
  verdict: verdictOf(sql`result.counted_pass`),
  score_mille: sql`coalesce(result.score_mille, -1)`,
  score: sql`coalesce(result.counted_score, 0)`,
};

function verdictOf(pass: Fragment): Fragment {
  return sql`case when result.status <> 'success' then result.status
    when ${pass} is null then 'none' when ${pass} = 1 then 'pass' else 'fail' end`;
}

/** PostgreSQL rejects a product too small for a double; such a square adds nothing. */
function squareOf(score: Fragment): Fragment {
  return sql`case when ${score} > 1e-150 then ${score} * ${score} else 0 end`;
}

/** To read this many results one by one takes some tens of milliseconds; without the counts, only those with the tag are read. */
const maxUncounted = 20_000;

/** Whether nearly all results with a tag of this name are counted by tag. Whatever the answer, `tagCells` is right. */
export async function isCountedByTag(reader: Database, accountId: string, name: string): Promise<boolean> {
  const { rows } = await sql<{ missing: number; closed: number }>`
    select coalesce((select max(id) from evaluation_results), 0) - up_to as missing, (
      select count(*) from evaluation_tag_names
      where account_id = ${accountId} and name = ${name} and counted_up_to is not null) as closed
    from evaluation_tag_progress`.execute(reader);
  const [row] = rows;
  return row !== undefined && row.closed === 0 && row.missing <= maxUncounted;
}

/**
 * An account's counts of results with a tag, as a statement yet to be run. What is counted has the evaluators' verdicts;
 * people's corrections are few, and exchanged here. All in one statement, so that each result is in it once.
 */
export function tagCells(
  reader: Database,
  accountId: string,
  filter: RollupFilter,
  columns: readonly (keyof GroupKey)[],
  tag: CountedTag,
): Expression<SummaryCell> {
  const keys = columns.map((column) => sql.ref(column));
  const verdicts = verdictsOf(filter);
  const isWanted =
    verdicts === undefined
      ? sql`1 = 1`
      : verdicts.length === 0
        ? sql`1 = 0`
        : sql`verdict in (${sql.join(verdicts)})`;
  const parts = [
    countedCells(accountId, filter, columns, tag),
    ...uncountedCells(reader, accountId, filter, columns, tag),
    ...correctedCells(reader, accountId, filter, columns, tag),
  ];
  const tagged = sql`select * from (${sql.join(parts, sql` union all `)}) as every_tagged where ${isWanted}`;
  if (!columns.includes("tag")) return sql<SummaryCell>`(${tagged})`;
  const others = columns.filter((column) => column !== "tag");
  const withoutTag = columns.map((column) =>
    column === "tag" ? sql`cast(null as text) as tag` : sql.ref(column),
  );
  // PostgreSQL adds up 64-bit integers as decimals, which is slow.
  const count = isPostgres(reader) ? sql`cast(count as double precision)` : sql`count`;
  const all = rollupCells(reader, accountId, filter, others);
  return sql<SummaryCell>`(
    with tagged as materialized (
      select ${sql.join([...keys, sql`verdict, score_mille`])}, sum(${count}) as count,
        sum(score_sum) as score_sum, sum(score_sum_of_squares) as score_sum_of_squares
      from (${tagged}) as added group by ${sql.join([...keys, sql`score_mille, verdict`])}
    )
    select ${sql.join([...keys, ...figures])} from tagged
    union all select ${sql.join([...withoutTag, sql`verdict, score_mille`])}, -count, -score_sum, -score_sum_of_squares from tagged
    union all select ${sql.join([...withoutTag, ...figures])} from ${all} as every_result
    -- To add up numbers takes a fraction of the time that to group them takes, and often all results have the tag.
    where (select coalesce(sum(count), 0) from tagged) <> (select coalesce(sum(${count}), 0) from ${all} as every_result))`;
}

const figures = ["verdict", "score_mille", "count", "score_sum", "score_sum_of_squares"].map((name) =>
  sql.ref(name),
);

/** The number up to which results of the name are counted. */
function countedUpTo(accountId: string, { name }: CountedTag): Fragment {
  return sql`(select coalesce((select counted_up_to from evaluation_tag_names
    where account_id = ${accountId} and name = ${name}), up_to) from evaluation_tag_progress)`;
}

function isTag(owner: string, column: string, { name, value }: CountedTag): Fragment {
  const hasValue = value === undefined ? sql`` : sql` and ${sql.ref(`${owner}.value`)} = ${value}`;
  return sql`${sql.ref(`${owner}.${column}`)} = ${name}${hasValue}`;
}

function countedCells(
  accountId: string,
  filter: RollupFilter,
  columns: readonly (keyof GroupKey)[],
  tag: CountedTag,
): Fragment {
  const selected = columns.map((column) => (column === "tag" ? sql`tag.value as tag` : sql.ref(column)));
  const conditions = [
    sql`tag.account_id = ${accountId}`,
    isTag("tag", "name", tag),
    ...seriesMatches(filter).map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
    ...(filter.fromDay === undefined ? [] : [sql`day >= ${filter.fromDay}`]),
    ...(filter.untilDay === undefined ? [] : [sql`day < ${filter.untilDay}`]),
  ];
  return sql`select ${sql.join([...selected, ...figures])}
    from evaluation_tag_values as tag join evaluation_tag_series as series on series.tag_id = tag.id
    join evaluation_tag_counts as counts on counts.series_id = series.id
    where ${sql.join(conditions, sql` and `)}`;
}

/** The results that are not counted yet, with the verdicts that count. */
function uncountedCells(
  reader: Database,
  accountId: string,
  filter: RollupFilter,
  columns: readonly (keyof GroupKey)[],
  tag: CountedTag,
): Fragment[] {
  return statusConditions(filter.status).map(
    (ofStatus) => sql`select ${cellColumns(columns, countedVerdict, sql`1`)}
      from evaluation_results as result ${joinTags(reader)}
      where ${sql.join(resultConditions(accountId, filter, tag), sql` and `)} and ${ofStatus}
        and result.id > ${countedUpTo(accountId, tag)}
        -- With both bounds PostgreSQL expects few results.
        and result.id <= ${sql.lit(Number.MAX_SAFE_INTEGER)}`,
  );
}

/** Counted results that were corrected: less the evaluator's verdict, and with the one that counts. */
function correctedCells(
  reader: Database,
  accountId: string,
  filter: RollupFilter,
  columns: readonly (keyof GroupKey)[],
  tag: CountedTag,
): Fragment[] {
  if (filter.status !== undefined && filter.status !== "success") return [];
  // PostgreSQL would read all results to find a few.
  const result = isPostgres(reader)
    ? sql`lateral (select * from evaluation_results as found where found.id = corrected.result_id offset 0)`
    : sql`evaluation_results`;
  const before = evaluatorsVerdict(reader);
  const exchanged = {
    verdict: sql`case sign when 1 then ${countedVerdict.verdict} else ${before.verdict} end`,
    score_mille: sql`case sign when 1 then ${countedVerdict.score_mille} else ${before.score_mille} end`,
    score: sql`case sign when 1 then ${countedVerdict.score} else ${before.score} end`,
  };
  return [
    sql`select ${cellColumns(columns, exchanged, sql`sign`)}
      from (select distinct result_id from evaluation_corrections where account_id = ${accountId}) as corrected
      cross join ${result} as result ${joinTags(reader)}
      cross join (select -1 as sign union all select 1) as signs
      where result.id = corrected.result_id and ${sql.join(resultConditions(accountId, filter, tag), sql` and `)}
        and result.id <= ${countedUpTo(accountId, tag)}`,
  ];
}

function resultConditions(
  accountId: string,
  { pass: _, ...filter }: RollupFilter,
  tag: CountedTag,
): Fragment[] {
  return [
    sql`result.account_id = ${accountId}`,
    isPayloadOfResult,
    isTag("tagged", "key", tag),
    ...filterConditions(accountId, filter),
    ...(filter.fromDay === undefined ? [] : [sql`result.created_at >= ${filter.fromDay * microsPerDay}`]),
    ...(filter.untilDay === undefined ? [] : [sql`result.created_at < ${filter.untilDay * microsPerDay}`]),
  ];
}

function cellColumns(
  columns: readonly (keyof GroupKey)[],
  { verdict, score_mille, score }: typeof countedVerdict,
  sign: Fragment,
): Fragment {
  return sql.join([
    ...groupColumns(columns),
    sql`${verdict} as verdict`,
    sql`${score_mille} as score_mille`,
    sql`${sign} as count`,
    sql`${sign} * ${score} as score_sum`,
    sql`${sign} * ${squareOf(score)} as score_sum_of_squares`,
  ]);
}

/** Writers come first: for four fifths of the time nothing is in their way, even while a million results are counted. */
const pausePerWork = 4;
const maxPauseMs = 500;

/**
 * Counts results by tag a moment after it was scheduled, until all are counted. `rollUpSome` counts some of them and returns whether
 * there are more.
 */
export function rollUpSoon(rollUpSome: () => Promise<boolean>, onFailure: (error: unknown) => void): Folder {
  let isStopped = false;
  const folder = foldSoon(async () => {
    while (!isStopped) {
      const startedAtMs = performance.now();
      if (!(await rollUpSome())) return;
      const pauseMs = pausePerWork * (performance.now() - startedAtMs);
      await sleep(Math.min(pauseMs, maxPauseMs), undefined, { ref: false });
    }
  }, onFailure);
  return {
    schedule: () => folder.schedule(),
    async stop() {
      isStopped = true;
      await folder.stop();
    },
  };
}

/** A few milliseconds on SQLite, for which other writers wait. */
const usualResultsAtOnce = 1_000;
/** A tag with more values names single results rather than groups of them, and is not counted any further. */
export const maxCountedValues = 100;
/** As many names of an account are counted. */
const maxCountedNames = 100;
/** Next to the lock of folding. */
const rollUpLock = sql.raw(`${firstWriterLock} - 3`);

/**
 * Counts the next results by tag, in one transaction with the number up to which they are counted. Returns whether more may follow.
 * Of several processes one does so at a time; the others have nothing to do.
 */
export async function rollUpSomeTags(
  database: Database,
  resultsAtOnce = usualResultsAtOnce,
): Promise<boolean> {
  return await database.transaction().execute(async (transaction) => {
    if (!(await tryLockRollUp(transaction))) return false;
    const batch = await selectBatch(transaction, resultsAtOnce);
    if (batch === undefined) return false;
    if (await hasNewSeries(transaction, batch)) {
      await addNames(transaction, batch);
      await closeNames(transaction, batch);
      await addValues(transaction, batch);
      await addSeries(transaction, batch);
    }
    await addCounts(transaction, batch);
    await sql`update evaluation_tag_progress set up_to = ${batch.upTo}`.execute(transaction);
    return batch.results === resultsAtOnce;
  });
}

/** Whether any result is not counted by tag yet. */
export async function hasUncounted(database: Database): Promise<boolean> {
  // Not as text: with the builder, SQLite reads it beside a write in progress.
  const uncounted = await database
    .selectFrom("evaluation_results")
    .select("id")
    .where("id", ">", (progress) => progress.selectFrom("evaluation_tag_progress").select("up_to"))
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return uncounted !== undefined;
}

/**
 * Locks counting by tag until the transaction ends. On SQLite there is one writer at a time. PostgreSQL plans no merge joins in it: to know
 * what one costs, it would search an index for the first row that is left, past all that a long deletion has deleted.
 */
export async function lockRollUp(transaction: Database): Promise<void> {
  if (!isPostgres(transaction)) return;
  await sql`select pg_advisory_xact_lock(${rollUpLock}), set_config('enable_mergejoin', 'off', true)`.execute(
    transaction,
  );
}

/** The same, and its commit does not wait for the disk: what a power failure undoes is deleted again. */
export async function lockRollUpToDelete(transaction: Database): Promise<void> {
  await lockRollUp(transaction);
  if (isPostgres(transaction))
    await sql`select set_config('synchronous_commit', 'off', true)`.execute(transaction);
}

/** Forgets all counts by tag, so that they are made again from the results as they are when this transaction is committed. */
export async function resetTagRollup(transaction: Database): Promise<void> {
  await lockRollUp(transaction);
  for (const table of ["counts", "series", "values", "names"])
    await sql`delete from ${sql.ref(`evaluation_tag_${table}`)}`.execute(transaction);
  await sql`update evaluation_tag_progress set up_to = 0`.execute(transaction);
}

async function tryLockRollUp(transaction: Database): Promise<boolean> {
  // SQLite has one writer at a time.
  if (!isPostgres(transaction)) return true;
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${rollUpLock}) as locked`.execute(transaction);
  return rows[0]?.locked === true;
}

interface Batch {
  after: number;
  upTo: number;
  results: number;
}

/** The next results that no other can precede any more. On SQLite every visible result is one. */
async function selectBatch(transaction: Database, resultsAtOnce: number): Promise<Batch | undefined> {
  const settled = await selectLastSettled(transaction);
  const isSettled = settled === undefined ? sql`` : sql`and id <= ${settled}`;
  const { rows } = await sql<{ after: number; upTo: number | null; results: number }>`
    select max(up_to) as after, max(id) as "upTo", count(id) as results
    from evaluation_tag_progress left join (
      select id from evaluation_results
      where id > (select up_to from evaluation_tag_progress) ${isSettled} order by id limit ${resultsAtOnce}
    ) as next on 1 = 1`.execute(transaction);
  const [row] = rows;
  if (row === undefined || row.upTo === null) return undefined;
  return { ...row, upTo: row.upTo };
}

/** The batch's results with their tags, one row for each. */
function fromTagged(transaction: Database, { after, upTo }: Batch) {
  return sql`from evaluation_results as result ${joinTags(transaction)}
    where result.id > ${after} and result.id <= ${upTo} and ${isPayloadOfResult}
      and payload.result_id > ${after} and payload.result_id <= ${upTo} ${fence(transaction)}`;
}

/** PostgreSQL expects hundreds of tags of a result, and would combine all series with each other first. */
function fence(transaction: Database): Fragment {
  return isPostgres(transaction) ? sql`offset 0` : sql``;
}

const columns = Object.keys(seriesSources).map((name) => sql.ref(name));

const ofSeries = sql.join([
  sql`result.account_id, tagged.key as name, tagged.value as value`,
  ...Object.entries(seriesSources).map(([name, source]) => sql`${source} as ${sql.ref(name)}`),
]);

/** For every result of the batch and each of its tags: whose it is, the tag, and what its series has in common. */
function tagged(transaction: Database, batch: Batch) {
  return sql`select ${ofSeries} ${fromTagged(transaction, batch)}`;
}

const isName = sql`names.account_id = new.account_id and names.name = new.name`;
const isValue = sql`tag.account_id = new.account_id and tag.name = new.name and tag.value = new.value`;
const isSeries = sql`series.tag_id = tag.id and ${sql.join(
  columns.map((column) => sql`series.${column} = new.${column}`),
  sql` and `,
)}`;

/** Usually there are none, and nothing but counts change. */
async function hasNewSeries(transaction: Database, batch: Batch): Promise<boolean> {
  const { rows } = await sql`
    select 1 from (${tagged(transaction, batch)}) as new
    left join evaluation_tag_names as names on ${isName}
    left join evaluation_tag_values as tag on ${isValue}
    left join evaluation_tag_series as series on ${isSeries}
    where series.id is null and names.counted_up_to is null limit 1`.execute(transaction);
  return rows.length > 0;
}

/** Beyond the most names of an account, a name is known and not counted. */
async function addNames(transaction: Database, batch: Batch): Promise<void> {
  await sql`insert into evaluation_tag_names (account_id, name, counted_up_to)
    select account_id, name, case when place + (
        select count(*) from evaluation_tag_names as known where known.account_id = new.account_id and counted_up_to is null
      ) > ${maxCountedNames} then cast(${batch.after} as bigint) end
    from (
      select account_id, name, row_number() over (partition by account_id order by name) as place
      from (select distinct result.account_id, tagged.key as name ${fromTagged(transaction, batch)}) as every
      where not exists (select 1 from evaluation_tag_names as known
        where known.account_id = every.account_id and known.name = every.name)
    ) as new`.execute(transaction);
}

/** The batch's tags that are not known yet, each once. */
function newValues(transaction: Database, batch: Batch) {
  return sql`select new.account_id, new.name, new.value
    from (select distinct result.account_id, tagged.key as name, tagged.value as value ${fromTagged(transaction, batch)}) as new
    where not exists (select 1 from evaluation_tag_values as tag where ${isValue})`;
}

/** A name that would have too many values with this batch is not counted from here on. */
async function closeNames(transaction: Database, batch: Batch): Promise<void> {
  await sql`update evaluation_tag_names set counted_up_to = ${batch.after}
    where counted_up_to is null and (account_id, name) in (
      select new.account_id, new.name from (${newValues(transaction, batch)}) as new
      group by new.account_id, new.name
      having count(*) + (select count(*) from evaluation_tag_values as tag
        where tag.account_id = new.account_id and tag.name = new.name) > ${maxCountedValues})`.execute(
    transaction,
  );
}

async function addValues(transaction: Database, batch: Batch): Promise<void> {
  await sql`insert into evaluation_tag_values (account_id, name, value)
    select new.account_id, new.name, new.value from (${newValues(transaction, batch)}) as new
    join evaluation_tag_names as names on ${isName}
    where names.counted_up_to is null`.execute(transaction);
}

async function addSeries(transaction: Database, batch: Batch): Promise<void> {
  await sql`insert into evaluation_tag_series (tag_id, ${sql.join(columns)})
    select distinct tag.id, ${sql.join(columns.map((column) => sql`new.${column}`))}
    from (${tagged(transaction, batch)}) as new
    join evaluation_tag_names as names on ${isName}
    join evaluation_tag_values as tag on ${isValue}
    where names.counted_up_to is null
      and not exists (select 1 from evaluation_tag_series as series where ${isSeries})`.execute(transaction);
}

async function addCounts(transaction: Database, batch: Batch): Promise<void> {
  const isCounted = sql`names.counted_up_to is null`;
  await changeCounts(transaction, { from: fromTagged(transaction, batch), isCounted, sign: 1 });
}

/** Takes results from the counts, as far as they are counted. They are still stored, and no other process counts meanwhile. */
export async function takeFromCounts(transaction: Database, ids: readonly number[]): Promise<void> {
  const from = sql`from evaluation_results as result ${joinTags(transaction)}
    where result.id in (${sql.join(ids)}) and ${isPayloadOfResult}
      and payload.result_id <= (select up_to from evaluation_tag_progress) ${fence(transaction)}`;
  const isCounted = sql`(names.counted_up_to is null or new.result_id <= names.counted_up_to)`;
  await changeCounts(transaction, { from, isCounted, sign: -1 });
}

/** Adds the tagged results of a `from` clause to the counts, or takes them away. */
async function changeCounts(
  transaction: Database,
  change: { from: Fragment; isCounted: Fragment; sign: 1 | -1 },
): Promise<void> {
  const { verdict, score_mille, score } = evaluatorsVerdict(transaction);
  const sign = sql.lit(change.sign);
  await sql`insert into evaluation_tag_counts (series_id, day, verdict, score_mille, count, score_sum, score_sum_of_squares)
    select series.id, day, verdict, score_mille, ${sign} * count(*), ${sign} * sum(score), ${sign} * sum(square)
    from (
      select ${ofSeries}, result.id as result_id, result.created_at / ${sql.lit(microsPerDay)} as day,
        ${verdict} as verdict, ${score_mille} as score_mille, ${score} as score, ${squareOf(score)} as square
      ${change.from}
    ) as new
    join evaluation_tag_names as names on ${isName}
    join evaluation_tag_values as tag on ${isValue}
    join evaluation_tag_series as series on ${isSeries}
    where ${change.isCounted}
    group by series.id, day, verdict, score_mille
    on conflict (series_id, day, verdict, score_mille) do update set
      count = evaluation_tag_counts.count + excluded.count,
      score_sum = evaluation_tag_counts.score_sum + excluded.score_sum,
      score_sum_of_squares = evaluation_tag_counts.score_sum_of_squares + excluded.score_sum_of_squares`.execute(
    transaction,
  );
}
