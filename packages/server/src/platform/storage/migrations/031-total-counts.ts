import { type Kysely, type Migration, sql } from "kysely";
import { isPostgres } from "../store.ts";
import { withoutRowid } from "./without-rowid.ts";

/** An account's counts over all series, kept by triggers: docs/decisions/0025-summaries-and-statements.md. */
export const totalCounts: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("evaluation_total_counts")
      .addColumn("account_id", "text", (column) => column.notNull())
      .addColumn("day", "integer", (column) => column.notNull())
      .addColumn("verdict", "text", (column) => column.notNull())
      .addColumn("score_mille", "integer", (column) => column.notNull())
      .addColumn("count", "bigint", (column) => column.notNull())
      .addColumn("score_sum", "double precision", (column) => column.notNull())
      .addColumn("score_sum_of_squares", "double precision", (column) => column.notNull())
      // In the order in which summaries add them up.
      .addPrimaryKeyConstraint("evaluation_total_counts_of_an_account", [
        "account_id",
        "day",
        "score_mille",
        "verdict",
      ])
      .modifyEnd(withoutRowid(db))
      .execute();
    // Writers append to another table meanwhile; only what folds its rows into this one waits.
    if (isPostgres(db)) await sql`lock table evaluation_counts in share row exclusive mode`.execute(db);
    await sql.raw(addEverything).execute(db);
    await (isPostgres(db) ? createStatementTriggers(db) : createRowTriggers(db));
  },
};

const key = "account_id, day, score_mille, verdict";
const figures = ["count", "score_sum", "score_sum_of_squares"];
const insertInto = `insert into evaluation_total_counts (${key}, ${figures.join(", ")})`;
const onConflict = `on conflict (${key}) do update set ${figures
  .map((name) => `${name} = evaluation_total_counts.${name} + excluded.${name}`)
  .join(", ")}`;

/** All counts so far. */
const addEverything = `${insertInto} select ${key}, ${figures.map((name) => `sum(${name})`).join(", ")}
  from evaluation_counts join evaluation_series on id = series_id where spans_runs = 1 group by ${key} order by ${key}`;

/** Folding is one statement for up to thousands of rows. */
async function createStatementTriggers(db: Kysely<unknown>): Promise<void> {
  const before = `select series_id, day, score_mille, verdict, ${figures.map((name) => `-${name} as ${name}`).join(", ")}
    from old_rows`;
  const after = `select series_id, day, score_mille, verdict, ${figures.join(", ")} from new_rows`;
  const triggers = [
    { event: "insert", tables: "new table as new_rows", rows: after },
    {
      event: "update",
      tables: "old table as old_rows new table as new_rows",
      rows: `${before} union all ${after}`,
    },
    { event: "delete", tables: "old table as old_rows", rows: `${before} where count <> 0` },
  ];
  for (const { event, tables, rows } of triggers) {
    const name = `evaluation_total_counts_on_${event}`;
    // A plan is kept for the session. With a join, one made for many rows would read every series for a single row.
    const body = `${insertInto} select ${key}, ${figures.map((figure) => `sum(${figure})`).join(", ")}
      from (${rows}) as changed cross join lateral (
        select account_id from evaluation_series where id = series_id and spans_runs = 1 offset 0) as series
      group by ${key} order by ${key} ${onConflict};`;
    await sql
      .raw(
        `create function ${name}() returns trigger language plpgsql as $$ begin ${body} return null; end $$`,
      )
      .execute(db);
    await sql
      .raw(`create trigger ${name} after ${event} on evaluation_counts referencing ${tables}
        for each statement execute function ${name}()`)
      .execute(db);
  }
}

async function createRowTriggers(db: Kysely<unknown>): Promise<void> {
  const triggers = [
    { event: "insert", row: "new", changeOf: (name: string) => `new.${name}` },
    // No statement changes the key of a count.
    { event: "update", row: "new", changeOf: (name: string) => `new.${name} - old.${name}` },
    // Nearly all that is deleted is empty, and its day may have been deleted before.
    { event: "delete", row: "old", changeOf: (name: string) => `-old.${name}`, when: "when old.count <> 0" },
  ];
  for (const { event, row, changeOf, when = "" } of triggers) {
    await sql
      .raw(`create trigger evaluation_total_counts_on_${event} after ${event} on evaluation_counts ${when} begin
        ${insertInto} select account_id, ${row}.day, ${row}.score_mille, ${row}.verdict, ${figures.map(changeOf).join(", ")}
          from evaluation_series where id = ${row}.series_id and spans_runs = 1 ${onConflict};
      end`)
      .execute(db);
  }
}
