import { sql } from "kysely";
import { databaseNow } from "../../../storage/database-clock.ts";
import { isPostgres } from "../../../storage/is-postgres.ts";
import { type Micros, nowMicros } from "../../../storage/micros.ts";
import {
  firstWriterLock,
  numbersPerStretch,
  resultNumbers,
  writerLocks,
} from "../../../storage/result-numbers.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import { addTimes } from "../times/times-store.ts";

/** The numbers of results that are kept together, ascending, and when that is. */
export interface Numbers {
  ids: number[];
  createdAt: Micros;
}

const sequence = sql.ref(resultNumbers);
const firstLock = sql.raw(firstWriterLock);

/**
 * Takes the next numbers for results, and notes at which time they are kept. Nobody waits for it on PostgreSQL, where results become
 * visible in another order than that of their numbers: see `selectLastSettled`.
 */
export async function takeNumbers(transaction: Database, results: number): Promise<Numbers> {
  return isPostgres(transaction)
    ? await takeFromSequence(transaction, results)
    : await takeFromClock(transaction, results);
}

/** The lock says from which number on results may be missing. It is taken before the numbers, and goes once they can be seen. */
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
  const { last_id } = await transaction
    .updateTable("evaluation_clock")
    .set((row) => ({ last_id: row("last_id", "+", results), last_created_at: createdAt }))
    .returning("last_id")
    .executeTakeFirstOrThrow();
  const ids = Array.from({ length: results }, (_, index) => last_id - results + 1 + index);
  await addTimes(
    transaction,
    ids.map((id) => ({ id, createdAt })),
  );
  return { ids, createdAt };
}

/** The last number that was taken, on SQLite. */
export async function selectLastNumber(transaction: Database): Promise<number> {
  const clock = await transaction.selectFrom("evaluation_clock").select("last_id").executeTakeFirstOrThrow();
  return clock.last_id;
}

/**
 * The number up to which no further result can appear, or undefined where that goes for all of them. Whoever reads upwards and goes
 * on behind the last id must stop there, or would miss a result of a smaller number that is committed later. A search that begins
 * after this has been answered sees all results up to it: the locks are looked at after the sequence, and a writer lets go of its
 * lock only when its results are visible.
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
