// bun fill-database.ts URL SIZE: fills a database created by Presage with SIZE results of its one account, by SQL. Writes
// the resulting number of rollup cells to standard output.
import { SQL } from "bun";
import { rollUpSomeTags } from "../../../packages/server/src/evaluation/results/tag-rollup/roll-up-tags-store.ts";
import { openThreadDatabase } from "../../../packages/server/src/storage/opening/open-database.ts";
import { openSqlite } from "../../../packages/server/src/storage/sqlite/open-sqlite.ts";
import { insertsOf } from "./distribution.ts";
import { fillRollup } from "./fill-rollup.ts";

const resultsAtOnce = 100_000;
const [url = "", sizeText = ""] = process.argv.slice(2);
const size = Number(sizeText);

const countCells = "select count(*) as cells from evaluation_counts";

/** Otherwise the server would do it in the background, while it is measured. */
const countByTag = async (): Promise<void> => {
  const database = await openThreadDatabase(url);
  while (await rollUpSomeTags(database));
  await database.destroy();
};

/** Creates the indexes after the rows, which takes a third of the time, here as on PostgreSQL. Primary keys stay. */
const fillSqlite = async (path: string): Promise<number> => {
  const database = openSqlite(path);
  // Of this connection only. If the machine stops, the bench begins anew.
  database.run("pragma synchronous = off");
  database.run("pragma cache_size = -1000000");
  const indexes = database
    .query(
      "select name, sql from sqlite_master where tbl_name = 'evaluation_results' and sql like 'create%index%'",
    )
    .all() as { name: string; sql: string }[];
  for (const { name } of indexes) database.run(`drop index "${name}"`);
  for (let from = 1; from <= size; from += resultsAtOnce) {
    const to = Math.min(from + resultsAtOnce - 1, size);
    const numbers = `(with recursive numbers (i) as (select ${from} union all select i + 1 from numbers where i < ${to})
      select i from numbers) as numbers`;
    database.run("begin immediate");
    for (const statement of insertsOf(numbers, size)) database.run(statement);
    database.run("commit");
  }
  for (const index of indexes) database.run(index.sql);
  const connection = {
    run: async (statement: string) => void database.run(statement),
    read: async (statement: string) => database.query(statement).all(),
  };
  await fillRollup(connection, size, "SQLite");
  const { cells } = database.query(countCells).get() as { cells: number };
  database.close();
  await countByTag();
  return cells;
};

interface IndexRow {
  readonly name: string;
  readonly definition: string;
}

const fillPostgres = async (): Promise<number> => {
  const database = new SQL(url, { max: 1 });
  // A session setting: there is only one connection.
  await database.unsafe("set maintenance_work_mem = '512MB'");
  await database.unsafe("set work_mem = '256MB'");
  const indexes: IndexRow[] = await database.unsafe(`
    select index_name.relname as name, pg_get_indexdef(indexrelid) as definition
    from pg_index join pg_class as index_name on index_name.oid = indexrelid
    where indrelid = 'evaluation_results'::regclass and not indisprimary`);
  for (const { name } of indexes) await database.unsafe(`drop index "${name}"`);
  for (let from = 1; from <= size; from += resultsAtOnce) {
    const to = Math.min(from + resultsAtOnce - 1, size);
    const numbers = `generate_series(${from}::bigint, ${to}::bigint) as numbers(i)`;
    for (const statement of insertsOf(numbers, size)) await database.unsafe(statement);
  }
  for (const { definition } of indexes) await database.unsafe(definition);
  const connection = {
    run: async (statement: string) => void (await database.unsafe(statement)),
    read: async (statement: string): Promise<readonly unknown[]> => await database.unsafe(statement),
  };
  await fillRollup(connection, size, "PostgreSQL");
  await countByTag();
  // As autovacuum would have done meanwhile.
  await database.unsafe("vacuum analyze");
  const [counted] = await database.unsafe(countCells);
  await database.close();
  return Number(counted.cells);
};

const cells = url.startsWith("sqlite:")
  ? await fillSqlite(url.slice("sqlite:".length))
  : await fillPostgres();
process.stdout.write(JSON.stringify({ cells }));
