import { SQL } from "bun";
import { countByTag } from "./count-by-tag.ts";
import { insertResults, insertTextsAndTags, judge } from "./distribution.ts";
import { fillRollup, setLastNumber } from "./fill-rollup.ts";

const resultsAtOnce = 100_000;
/** PostgreSQL expects few series and plans nested loops. For this many rows hash joins are faster. */
const hashing = "?options=-c%20enable_nestloop%3Doff%20-c%20work_mem%3D256MB";

/** Each of two connections fills tables of its own, so that rows are in their order. Returns the number of counts. */
export const fillPostgres = async (url: string, size: number): Promise<number> => {
  const first = await connect(url);
  const second = await connect(url);
  const indexes = await dropIndexes(first);
  await Promise.all([fill(first, size, insertResults(size)), fill(second, size, insertTextsAndTags)]);
  const build = async (connection: SQL): Promise<void> => {
    for (let next = indexes.shift(); next !== undefined; next = indexes.shift())
      await connection.unsafe(next);
  };
  await Promise.all([build(first), build(second)]);
  const connection = {
    run: async (statement: string) => void (await first.unsafe(statement)),
    read: async (statement: string): Promise<readonly unknown[]> => await first.unsafe(statement),
  };
  await setLastNumber(connection, size, "PostgreSQL");
  await Promise.all([fillRollup(connection, "PostgreSQL"), countByTag(url + hashing)]);
  // As autovacuum would have done meanwhile.
  await first.unsafe("vacuum analyze");
  const [counted] = await first.unsafe("select count(*) as cells from evaluation_counts");
  await Promise.all([first.close(), second.close()]);
  return Number(counted.cells);
};

const connect = async (url: string): Promise<SQL> => {
  // Settings hold for one connection.
  const connection = new SQL(url, { max: 1 });
  await connection.unsafe("set maintenance_work_mem = '512MB'");
  await connection.unsafe("set work_mem = '256MB'");
  await connection.unsafe("set enable_nestloop = off");
  // The other connection builds an index at the same time.
  await connection.unsafe("set max_parallel_maintenance_workers = 0");
  return connection;
};

const fill = async (connection: SQL, size: number, inserts: readonly string[]): Promise<void> => {
  for (let from = 1; from <= size; from += resultsAtOnce) {
    const to = Math.min(from + resultsAtOnce - 1, size);
    const numbers = `generate_series(${from}::bigint, ${to}::bigint) as numbers(i)`;
    for (const statement of [judge(numbers, size), ...inserts, "drop table judged"])
      await connection.unsafe(statement);
  }
};

/** Drops what would be changed at each row, and returns the statements that make it again, the longest first. */
const dropIndexes = async (connection: SQL): Promise<string[]> => {
  const tags: { name: string; definition: string }[] = await connection.unsafe(`
    select conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where conrelid = 'evaluation_tags'::regclass and contype = 'p'`);
  for (const { name } of tags)
    await connection.unsafe(`alter table evaluation_tags drop constraint "${name}"`);
  const indexes: { name: string; definition: string }[] = await connection.unsafe(`
    select index_name.relname as name, pg_get_indexdef(indexrelid) as definition
    from pg_index join pg_class as index_name on index_name.oid = indexrelid
    where indrelid = 'evaluation_results'::regclass and not indisprimary`);
  for (const { name } of indexes) await connection.unsafe(`drop index "${name}"`);
  return [
    ...tags.map(
      ({ name, definition }) => `alter table evaluation_tags add constraint "${name}" ${definition}`,
    ),
    ...indexes.map(({ definition }) => definition),
  ];
};
