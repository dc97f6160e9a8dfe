import { type Kysely, type Migration, type RawBuilder, sql } from "kysely";
import * as numbers from "../sample-columns.ts";
import { isPostgres } from "../store.ts";
import { withoutRowid } from "./without-rowid.ts";

const sequence = sql.ref(numbers.resultNumbers);
const sequenceName = sql.lit(numbers.resultNumbers);
const perStretch = sql.lit(numbers.numbersPerStretch);
const firstWriterLock = sql.raw(numbers.firstWriterLock);

/** Numbers without a row that all writers wait for: docs/decisions/0010-result-numbers.md. */
export const resultNumbers: Migration = {
  async up(db: Kysely<unknown>) {
    await createTimes(db);
    const last = await lastResultId(db);
    // All existing rows are read before anyone has to wait; results became visible in the order of their numbers.
    await addTimes(db, sql`id <= ${last}`);
    await createDeltas(db);
    if (isPostgres(db)) {
      // Whoever writes results by the old way finishes first and is seen by what follows.
      await sql`lock table evaluation_clock in access exclusive mode`.execute(db);
      await addTimes(
        db,
        sql`id > ${last}`,
        sql`on conflict (stretch) do update set
        earliest = least(evaluation_times.earliest, excluded.earliest),
        latest = greatest(evaluation_times.latest, excluded.latest)`,
      );
      await createSequence(db);
      await replaceClock(db);
    }
  },
};

async function createTimes(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("evaluation_times")
    .addColumn("stretch", "bigint", (column) => column.notNull())
    .addColumn("earliest", "bigint", (column) => column.notNull())
    .addColumn("latest", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("evaluation_times_of_a_stretch", ["stretch"])
    .modifyEnd(withoutRowid(db))
    .execute();
}

async function lastResultId(db: Kysely<unknown>): Promise<number> {
  const { rows } = await sql<{ last: number }>`
    select coalesce(max(id), 0) as last from evaluation_results`.execute(db);
  return rows[0]?.last ?? 0;
}

/** Adds the times of some results. */
async function addTimes(db: Kysely<unknown>, which: RawBuilder<unknown>, ifThere = sql``): Promise<void> {
  await sql`insert into evaluation_times (stretch, earliest, latest)
    select id / ${perStretch}, min(created_at), max(created_at)
    from evaluation_results where ${which} group by 1 ${ifThere}`.execute(db);
}

/** Without keys and indexes, so that inserts never wait. */
async function createDeltas(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("evaluation_time_deltas")
    .addColumn("stretch", "bigint", (column) => column.notNull())
    .addColumn("earliest", "bigint", (column) => column.notNull())
    .addColumn("latest", "bigint", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("evaluation_count_deltas")
    .addColumn("series_id", "text", (column) => column.notNull())
    .addColumn("day", "integer", (column) => column.notNull())
    .addColumn("verdict", "text", (column) => column.notNull())
    .addColumn("score_mille", "integer", (column) => column.notNull())
    .addColumn("count", "bigint", (column) => column.notNull())
    .addColumn("score_sum", "double precision", (column) => column.notNull())
    .addColumn("score_sum_of_squares", "double precision", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("error_finding_count_deltas")
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("revision_id", "text", (column) => column.notNull())
    .addColumn("day", "integer", (column) => column.notNull())
    .addColumn("path_id", "text", (column) => column.notNull())
    .addColumn("path", "text", (column) => column.notNull())
    .addColumn("count", "bigint", (column) => column.notNull())
    .execute();
}

async function createSequence(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence ${sequence} minvalue 0`.execute(db);
  await sql`select setval(${sequenceName}, greatest(
    (select last_id from evaluation_clock), (select max(id) from evaluation_results)))`.execute(db);
}

/**
 * Processes of the version before take their numbers by an update of the clock. For as long as some still run, a view stands in its
 * place that hands them numbers of the sequence, in a row as they expect, and does all else that a writer of today does.
 */
async function replaceClock(db: Kysely<unknown>): Promise<void> {
  await sql`drop table evaluation_clock`.execute(db);
  await sql`create view evaluation_clock as
    select pg_sequence_last_value(${sequenceName}::regclass) as last_id, 0::bigint as last_created_at`.execute(
    db,
  );
  await sql`create function advance_evaluation_clock() returns trigger language plpgsql as $$
    declare
      wanted bigint := new.last_id - old.last_id;
      first_id bigint;
      last_id bigint;
      next_id bigint;
    begin
      if wanted = 0 then
        -- A correction, which counts on being the only one.
        perform pg_advisory_xact_lock(${firstWriterLock} - 1);
        return new;
      end if;
      perform pg_advisory_xact_lock_shared(${firstWriterLock} + sequence.last_value)
        from ${sequence} as sequence;
      first_id := nextval(${sequenceName});
      last_id := first_id;
      while last_id - first_id + 1 < wanted loop
        next_id := nextval(${sequenceName});
        if next_id <> last_id + 1 then first_id := next_id; end if;
        last_id := next_id;
      end loop;
      insert into evaluation_time_deltas (stretch, earliest, latest)
        select stretch, new.last_created_at, new.last_created_at
        from generate_series(first_id / ${perStretch}, last_id / ${perStretch}) as stretch;
      new.last_id := last_id;
      return new;
    end $$`.execute(db);
  await sql`create trigger evaluation_clock_advances instead of update on evaluation_clock
    for each row execute function advance_evaluation_clock()`.execute(db);
}
