import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { firstWriterLock, microsPerDay } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import { type CountsMerger, mergeSoon } from "../write/merge-counts.ts";
import { selectLastSettled } from "../write/results-store.ts";
import { evaluatorsVerdict, type Fragment, isPayloadOfResult, joinTags, squareOf } from "./cells-store.ts";

/** The columns of a tag's series, and how each is read from a result. */
const seriesSources = {
  app: sql`result.app`,
  evaluator_id: sql`result.evaluator_id`,
  evaluator_family: sql`coalesce(result.evaluator_family, '')`,
  profile_name: sql`coalesce(result.profile_name, '')`,
  profile_public_id: sql`coalesce(result.profile_public_id, '')`,
  profile_revision: sql`coalesce(result.profile_revision, 0)`,
} as const;

/** Writers come first: for four fifths of the time nothing is in their way, even while a million results are counted. */
const pausePerWork = 4;
const maxPauseMs = 500;

/**
 * Counts results by tag a moment after it was scheduled, until all are counted. `rollUpSome` counts some of them and returns whether
 * there are more.
 */
export function rollUpSoon(
  rollUpSome: () => Promise<boolean>,
  onFailure: (error: unknown) => void,
): CountsMerger {
  let isStopped = false;
  const countsMerger = mergeSoon(async () => {
    while (!isStopped) {
      const startedAtMs = performance.now();
      if (!(await rollUpSome())) return;
      const pauseMs = pausePerWork * (performance.now() - startedAtMs);
      await sleep(Math.min(pauseMs, maxPauseMs), undefined, { ref: false });
    }
  }, onFailure);
  return {
    schedule: () => countsMerger.schedule(),
    async stop() {
      isStopped = true;
      await countsMerger.stop();
    },
  };
}

/** Takes a few milliseconds on SQLite, for which other writers wait. */
const usualResultsAtOnce = 1_000;
/** A tag with more values names single results rather than groups of them, and is not counted any further. */
export const maxCountedValues = 100;
/** At most this many names of an account are counted. */
const maxCountedNames = 100;
/** Next to the lock of merging. */
const rollUpLock = sql.raw(`${firstWriterLock} - 3`);

/**
 * Counts the next results by tag, in one transaction with the number up to which they are counted. Returns whether more may follow.
 * One process does so at a time; for any other there is nothing to do.
 */
export async function rollUpSomeTags(database: Database, resultsAtOnce = usualResultsAtOnce) {
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
  // With the query builder rather than as text, because SQLite then reads while a write is in progress.
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
 * Locks counting by tag until the transaction ends. On SQLite there is one writer at a time. PostgreSQL plans no merge joins meanwhile: to
 * estimate their cost, it would search an index for the first remaining row, past all that a long deletion has deleted.
 */
export async function lockRollUp(transaction: Database): Promise<void> {
  if (!isPostgres(transaction)) return;
  await sql`select pg_advisory_xact_lock(${rollUpLock}), set_config('enable_mergejoin', 'off', true)`.execute(
    transaction,
  );
}

/** The same, but its commit does not wait for the disk: rows that come back after a power failure are deleted again. */
export async function lockRollUpToDelete(transaction: Database): Promise<void> {
  await lockRollUp(transaction);
  if (isPostgres(transaction))
    await sql`select set_config('synchronous_commit', 'off', true)`.execute(transaction);
}

/** Deletes all counts by tag, so that they are made again from the results as they are when this transaction is committed. */
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

/** The next results that no other result can precede any more. On SQLite that is every visible result. */
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

/** The batch's results with their tags, one row per tag. */
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

/** For every result of the batch and each of its tags: the account, the tag, and the columns of its series. */
function tagged(transaction: Database, batch: Batch) {
  return sql`select ${ofSeries} ${fromTagged(transaction, batch)}`;
}

const isName = sql`names.account_id = new.account_id and names.name = new.name`;
const isValue = sql`tag.account_id = new.account_id and tag.name = new.name and tag.value = new.value`;
const isSeries = sql`series.tag_id = tag.id and ${sql.join(
  columns.map((column) => sql`series.${column} = new.${column}`),
  sql` and `,
)}`;

/** Usually there are no new series, and only counts change. */
async function hasNewSeries(transaction: Database, batch: Batch): Promise<boolean> {
  const { rows } = await sql`
    select 1 from (${tagged(transaction, batch)}) as new
    left join evaluation_tag_names as names on ${isName}
    left join evaluation_tag_values as tag on ${isValue}
    left join evaluation_tag_series as series on ${isSeries}
    where series.id is null and names.counted_up_to is null limit 1`.execute(transaction);
  return rows.length > 0;
}

/** Once an account has the most names, further names are stored but not counted. */
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

/** The batch's tags that are not known yet, without duplicates. */
function newValues(transaction: Database, batch: Batch) {
  return sql`select new.account_id, new.name, new.value
    from (select distinct result.account_id, tagged.key as name, tagged.value as value ${fromTagged(transaction, batch)}) as new
    where not exists (select 1 from evaluation_tag_values as tag where ${isValue})`;
}

/** Stops counting names that would have too many values with this batch. */
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

/** Subtracts results from the counts, if they are counted. They are still stored, and no other process counts meanwhile. */
export async function takeFromCounts(transaction: Database, ids: readonly number[]): Promise<void> {
  const from = sql`from evaluation_results as result ${joinTags(transaction)}
    where result.id in (${sql.join(ids)}) and ${isPayloadOfResult}
      and payload.result_id <= (select up_to from evaluation_tag_progress) ${fence(transaction)}`;
  const isCounted = sql`(names.counted_up_to is null or new.result_id <= names.counted_up_to)`;
  await changeCounts(transaction, { from, isCounted, sign: -1 });
}

/** Adds the tagged results of a `from` clause to the counts, or subtracts them. */
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
