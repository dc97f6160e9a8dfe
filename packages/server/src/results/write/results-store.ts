import { sql } from "kysely";
import { databaseNow } from "../../platform/storage/clock.ts";
import {
  firstWriterLock,
  type Micros,
  nowMicros,
  numbersPerStretch,
  resultNumbers,
  writerLocks,
} from "../../platform/storage/columns.ts";
import { type Insertion, insertRows, insertTogether } from "../../platform/storage/rows.ts";
import type { EvaluationResultsTable, EvaluationTimesTable } from "../../platform/storage/schema/results.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import { inParts } from "../../platform/words.ts";
import { type ResultRows, toTagRows } from "../result.ts";

/** The numbers (ids) of results that are stored together, ascending, and the time at which they are stored. */
export interface Numbers {
  ids: number[];
  createdAt: Micros;
}

const sequence = sql.ref(resultNumbers);
const firstLock = sql.raw(firstWriterLock);

/**
 * Takes the next numbers for results and records the time they are stored at. PostgreSQL writers take numbers without waiting, so
 * results can become visible out of order: see `selectLastSettled`.
 */
export async function takeNumbers(transaction: Database, results: number): Promise<Numbers> {
  return isPostgres(transaction)
    ? await takeFromSequence(transaction, results)
    : await takeFromClock(transaction, results);
}

/** The lock tells from which number on results may be missing. It is taken before the numbers and released once they are visible. */
async function takeFromSequence(transaction: Database, results: number): Promise<Numbers> {
  const { rows } = await sql<{ ids: unknown[]; created_at: Micros }>`
    with held as materialized (
      select pg_advisory_xact_lock_shared(${firstLock} + last_value), ${databaseNow(transaction)} as created_at
      from ${sequence}
    ), numbers as materialized (
      select nextval(${sql.lit(resultNumbers)}) as id, created_at from held, generate_series(1, ${results}::int)
    ), noted as (
      insert into evaluation_time_deltas (stretch, earliest, latest)
      select distinct id / ${sql.lit(numbersPerStretch)}, created_at, created_at from numbers
    )
    select array_agg(id order by id) as ids, min(created_at) as created_at from numbers`.execute(transaction);
  const [taken] = rows;
  if (taken === undefined) throw new Error("The sequence gave no numbers");
  return { ids: taken.ids.map(Number), createdAt: taken.created_at };
}

/** SQLite has one writer at a time. */
async function takeFromClock(transaction: Database, results: number): Promise<Numbers> {
  const createdAt = nowMicros();
  const { rows } = await sql<{ last_id: number }>`
    update evaluation_clock set last_id = last_id + ${results}, last_created_at = ${createdAt}
    returning last_id`.execute(transaction);
  const [clock] = rows;
  if (clock === undefined) throw new Error("The clock gave no numbers");
  const { last_id } = clock;
  const ids = Array.from({ length: results }, (_, index) => last_id - results + 1 + index);
  await addTimes(
    transaction,
    ids.map((id) => ({ id, created_at: createdAt })),
  );
  return { ids, createdAt };
}

/**
 * Takes the numbers of results from another database, or as many greater ones if some of them are taken. Returns the difference. Until
 * the transaction ends, ascending reads and counting by tag stop before these numbers: the results become visible together. On
 * PostgreSQL the numbers are taken in a separate transaction, for which writers briefly wait.
 */
export async function takeGivenNumbers(
  database: Database,
  transaction: Database,
  { first, last }: { first: number; last: number },
): Promise<number> {
  if (!isPostgres(transaction)) {
    const offset = Math.max(0, (await selectLastNumber(transaction)) + 1 - first);
    await sql`update evaluation_clock set last_id = ${last + offset}`.execute(transaction);
    return offset;
  }
  await sql`select pg_advisory_xact_lock_shared(${firstLock} + last_value) from ${sequence}`.execute(
    transaction,
  );
  return await database.transaction().execute(async (taking) => {
    // Changes nothing, but locks the sequence until the commit.
    await sql`alter sequence ${sequence} increment by 1`.execute(taking);
    const { rows } = await sql<{ last_value: number }>`select last_value from ${sequence}`.execute(taking);
    const offset = Math.max(0, (rows[0]?.last_value ?? 0) + 1 - first);
    await sql`select setval(${sql.lit(resultNumbers)}, ${sql.lit(last + offset)})`.execute(taking);
    return offset;
  });
}

/** The last number that was taken, on SQLite. */
export async function selectLastNumber(transaction: Database): Promise<number> {
  const clock = await transaction.selectFrom("evaluation_clock").select("last_id").executeTakeFirstOrThrow();
  return clock.last_id;
}

/**
 * The number up to which no further result can appear, or undefined if that holds for all results. A reader that pages by
 * ascending id must stop there, or it would miss a smaller number that is committed later. The locks are read after the
 * sequence, so a search that starts after this query sees all results up to that number.
 */
export async function selectLastSettled(reader: Database): Promise<number | undefined> {
  if (!isPostgres(reader)) return undefined;
  const lock = sql`(classid::bigint << 32) + objid::bigint`;
  const { rows } = await sql<{ id: number }>`
    select least(numbers.last_value, (
      select min(${lock}) - ${firstLock} from pg_locks
      where locktype = 'advisory' and objsubid = 1
        and database = (select oid from pg_database where datname = current_database())
        and ${lock} between ${firstLock} and ${firstLock} + least(numbers.last_value, ${sql.raw(writerLocks)})
    )) as id from ${sequence} as numbers`.execute(reader);
  return rows[0]?.id;
}

type Timed = Pick<EvaluationResultsTable, "id" | "created_at">;

/** Records the times at which results were stored, so that searches by time find their numbers. */
export async function addTimes(transaction: Database, results: readonly Timed[]): Promise<void> {
  const times = stretchesOf(results);
  if (isPostgres(transaction)) await insertRows(transaction, "evaluation_time_deltas", times);
  else await insertRows(transaction, "evaluation_times", times, mergeTimes);
}

const mergeTimes = `on conflict (stretch) do update set
  earliest = min(earliest, excluded.earliest), latest = max(latest, excluded.latest)`;

function stretchesOf(results: readonly Timed[]): EvaluationTimesTable[] {
  const byStretch = Map.groupBy(results, ({ id }) => Math.floor(id / numbersPerStretch));
  return [...byStretch].map(([stretch, some]) => ({
    stretch,
    earliest: some.reduce((earliest, { created_at }) => Math.min(earliest, created_at), Infinity),
    latest: some.reduce((latest, { created_at }) => Math.max(latest, created_at), -Infinity),
  }));
}

/** Ids between which all results of a period lie, possibly with others; null if there is no bound. */
export interface IdBounds {
  afterId: number | null;
  beforeId: number | null;
}

/**
 * Times follow ids only roughly, and not at all where a clock was wrong: whole stretches without a result of the period are skipped,
 * and each result of the others has to be checked.
 */
export async function selectIdsAtTimes(
  reader: Database,
  createdAfter: Micros | undefined,
  createdBefore: Micros | undefined,
): Promise<IdBounds> {
  const later = sql`latest > ${createdAfter}`;
  const earlier = sql`earliest < ${createdBefore}`;
  const stretch = (
    which: "min" | "max",
    condition: typeof later,
  ) => sql`(select ${sql.raw(which)}(stretch) from (
    select ${sql.raw(which)}(stretch) as stretch from evaluation_times where ${condition} union all
    select ${sql.raw(which)}(stretch) from evaluation_time_deltas where ${condition}) as stretches)`;
  const size = sql.lit(numbersPerStretch);
  const { rows } = await sql<IdBounds>`select
    ${createdAfter === undefined ? sql`null` : sql`coalesce(${stretch("min", later)} * ${size} - 1, ${noId})`} as "afterId",
    ${createdBefore === undefined ? sql`null` : sql`coalesce((${stretch("max", earlier)} + 1) * ${size}, 0)`} as "beforeId"
  `.execute(reader);
  return rows[0] ?? { afterId: null, beforeId: null };
}

/** Greater than any id. */
const noId = sql.lit(Number.MAX_SAFE_INTEGER);

const unlessKeyIsTaken =
  "on conflict (account_id, request_key) where request_key is not null do nothing returning id";

/**
 * Inserts the rows of results with a request key unless another result of the account has that key, and returns all results except
 * those. A duplicate thus does not fail the transaction that others share with it.
 */
export async function claimRequestKeys(
  transaction: Database,
  results: readonly ResultRows[],
): Promise<readonly ResultRows[]> {
  const keyed = results.map(({ row }) => row).filter(({ request_key }) => request_key !== null);
  if (keyed.length === 0) return results;
  // Transactions with the same keys wait for each other: always in one order, to avoid deadlocks.
  keyed.sort((a, b) => ((a.request_key ?? "") < (b.request_key ?? "") ? -1 : 1));
  const rows = await insertRows(transaction, "evaluation_results", keyed, unlessKeyIsTaken);
  if (rows.length === keyed.length) return results;
  const ids = new Set(rows.map(({ id }) => id));
  return results.filter(({ row }) => row.request_key === null || ids.has(row.id));
}

/** Inserts results whose request keys are claimed, with their texts unless `hasPayloads`, together with other rows. */
export async function insertResults(
  transaction: Database,
  results: readonly ResultRows[],
  others: readonly Insertion[],
  { hasPayloads }: { hasPayloads: boolean },
): Promise<void> {
  const unclaimed = results.map(({ row }) => row).filter(({ request_key }) => request_key === null);
  await insertTogether(transaction, [
    { table: "evaluation_results", rows: unclaimed },
    { table: "evaluation_payloads", rows: hasPayloads ? [] : results.map(({ texts }) => texts) },
    { table: "evaluation_tags", rows: results.flatMap(({ row, texts }) => toTagRows(row, texts.tags)) },
    ...others,
  ]);
}

/** How many of these results, whose numbers are consecutive, have their texts stored. */
export async function countPayloads(database: Database, ids: readonly number[]): Promise<number> {
  const { rows } = await database
    .selectFrom("evaluation_payloads")
    .select(({ fn }) => fn.count<number>("result_id").as("rows"))
    .where("result_id", ">=", ids.at(0) ?? 0)
    .where("result_id", "<=", ids.at(-1) ?? 0)
    .executeTakeFirstOrThrow();
  return rows;
}

/** Fewer than the parameters that SQLite allows in a statement. */
const idsAtOnce = 10_000;

/** Deletes texts that belong to no result. */
export async function deletePayloads(database: Database, ids: readonly number[]): Promise<void> {
  for (const some of inParts(ids, idsAtOnce))
    await deleteUnusedPayloads(database).where("result_id", "in", some).execute();
}

const textsAhead = "texts_ahead/";

/** Records that texts will be stored under these numbers before their results, so that they are found if the results never follow. */
export async function recordTextsAhead(transaction: Database, ids: readonly number[]): Promise<void> {
  await transaction
    .insertInto("settings")
    .values({ name: `${textsAhead}${ids.at(0)}`, value: String(ids.at(-1)) })
    .execute();
}

export async function forgetTextsAhead(transaction: Database, ids: readonly number[]): Promise<void> {
  await transaction
    .deleteFrom("settings")
    .where("name", "=", `${textsAhead}${ids.at(0)}`)
    .execute();
}

/**
 * Deletes texts that a process stored ahead and whose results never followed. A process that is still about to store the results
 * notices, and stores the texts again.
 */
export async function sweepPayloads(database: Database): Promise<void> {
  const left = await database
    .selectFrom("settings")
    .selectAll()
    .where("name", ">=", textsAhead)
    .where("name", "<", `${textsAhead}~`)
    .execute();
  for (const { name, value } of left) {
    await database.transaction().execute(async (transaction) => {
      await deleteUnusedPayloads(transaction)
        .where("result_id", ">=", Number(name.slice(textsAhead.length)))
        .where("result_id", "<=", Number(value))
        .execute();
      await transaction.deleteFrom("settings").where("name", "=", name).execute();
    });
  }
}

function deleteUnusedPayloads(database: Database) {
  return database
    .deleteFrom("evaluation_payloads")
    .where(sql<boolean>`not exists (select 1 from evaluation_results where id = result_id)`);
}
