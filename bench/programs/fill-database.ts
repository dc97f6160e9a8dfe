// bun fill-database.ts URL SIZE: fills a database created by Presage with SIZE results of its one account, by SQL. Writes
// the resulting number of rollup cells to standard output.
import { SQL } from "bun";
import { numbersPerStretch, resultNumbers } from "../../packages/server/src/platform/storage/columns.ts";
import { openThreadDatabase } from "../../packages/server/src/platform/storage/open.ts";
import type { EvaluationSeriesTable } from "../../packages/server/src/platform/storage/schema/results.ts";
import { openSqlite } from "../../packages/server/src/platform/storage/sqlite/sqlite-file.ts";
import { rollUpSomeTags } from "../../packages/server/src/results/summary/tags.ts";
import { seriesIdOf } from "../../packages/server/src/results/write/counts-store.ts";
import type { DatabaseName } from "../lib/postgres.ts";
import { endMicros, insertResults, insertTextsAndTags, judge } from "../search/distribution.ts";

interface Connection {
  readonly run: (statement: string) => Promise<void>;
  readonly read: (statement: string) => Promise<readonly unknown[]>;
}

const resultsAtOnce = 100_000;
/** PostgreSQL expects few series and plans nested loops. For this many rows hash joins are faster. */
const hashing = "?options=-c%20enable_nestloop%3Doff%20-c%20work_mem%3D256MB";

/** Each of two connections fills its own tables, so that rows are in order. Returns the number of counts. */
const fillPostgres = async (url: string, size: number): Promise<number> => {
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
  // Autovacuum would have done this meanwhile.
  await first.unsafe("vacuum analyze");
  const [counted] = await first.unsafe("select count(*) as cells from evaluation_counts");
  await Promise.all([first.close(), second.close()]);
  return Number(counted.cells);
};

const connect = async (url: string): Promise<SQL> => {
  // Settings apply to one connection.
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

/** Drops whatever each row would update, and returns the statements that create it again, the longest first. */
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

/** Creates the indexes after the rows, which takes a third of the time. Primary keys stay. Returns the number of counts. */
const fillSqlite = async (url: string, size: number): Promise<number> => {
  const database = openSqlite(url.slice("sqlite:".length));
  // Applies to this connection only. If the machine stops, the bench starts over.
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
    database.run(judge(numbers, size));
    for (const statement of [...insertResults(size), ...insertTextsAndTags]) database.run(statement);
    database.run("drop table judged");
    database.run("commit");
  }
  for (const index of indexes) database.run(index.sql);
  const connection = {
    run: async (statement: string) => void database.run(statement),
    read: async (statement: string) => database.query(statement).all(),
  };
  await setLastNumber(connection, size, "SQLite");
  await fillRollup(connection, "SQLite");
  const { cells } = database.query("select count(*) as cells from evaluation_counts").get() as {
    cells: number;
  };
  database.close();
  await countByTag(url);
  return cells;
};

const microsPerDay = 86_400_000_000;
const seriesAtOnce = 500;

const everyDimension = {
  account_id: "result.account_id",
  app: "result.app",
  evaluator_id: "result.evaluator_id",
  evaluator_family: "result.evaluator_family",
  profile_name: "result.profile_name",
  profile_public_id: "result.profile_public_id",
  profile_revision: "result.profile_revision",
};
const verdict = `case when status <> 'success' then status when counted_pass is null then 'none'
  when counted_pass = 1 then 'pass' else 'fail' end`;

const quote = (value: unknown): string =>
  typeof value === "number" ? String(value) : `'${String(value).replaceAll("'", "''")}'`;

/** Each result counts in its run's series and in the series of all runs. */
const countSeries = async (
  { run, read }: Connection,
  spansRuns: boolean,
  database: DatabaseName,
): Promise<void> => {
  const dimensions = {
    ...everyDimension,
    spans_runs: spansRuns ? "1" : "0",
    run_id: spansRuns ? "''" : "coalesce(result.run_id, '')",
  };
  const sources = Object.entries(dimensions);
  const selected = sources.map(([name, source]) => `${source} as ${name}`).join(", ");
  const found = (await read(`select distinct ${selected} from evaluation_results as result`)) as Omit<
    EvaluationSeriesTable,
    "id"
  >[];
  const series = found.map((row) => {
    const numbers = {
      profile_revision: Number(row.profile_revision),
      spans_runs: spansRuns ? (1 as const) : (0 as const),
    };
    const id = seriesIdOf({ ...row, ...numbers });
    return `(${[id, ...Object.values({ ...row, ...numbers })].map(quote).join(", ")})`;
  });
  const names = ["id", ...Object.keys(dimensions)].join(", ");
  for (let at = 0; at < series.length; at += seriesAtOnce) {
    await run(
      `insert into evaluation_series (${names}) values ${series.slice(at, at + seriesAtOnce).join(", ")}`,
    );
  }
  // SQLite would look at all results of an evaluator for each series of a run, that is, once for each run.
  const isSqlite = database === "SQLite";
  if (isSqlite)
    await run(`create index filling on evaluation_series (${Object.keys(dimensions).join(", ")})`);
  await run(`insert into evaluation_counts (series_id, day, verdict, score_mille, count, score_sum, score_sum_of_squares)
    select series_id, day, verdict, thousandths, count(*), sum(score), sum(score * score) from (
      select series.id as series_id, created_at / ${microsPerDay} as day, ${verdict} as verdict,
        coalesce(score_mille, -1) as thousandths, coalesce(counted_score, 0) as score
      from evaluation_results as result ${isSqlite ? "cross " : ""}join evaluation_series as series
        on ${sources.map(([name, source]) => `series.${name} = ${source}`).join(" and ")}) as every_result
    group by series_id, day, verdict, thousandths`);
  if (isSqlite) await run("drop index filling");
};

/** Sets the last number that the write path would have taken: results up to it are counted by tag. */
const setLastNumber = async ({ run }: Connection, size: number, database: DatabaseName): Promise<void> =>
  await run(
    database === "PostgreSQL"
      ? `select setval('${resultNumbers}', ${size})`
      : `update evaluation_clock set last_id = ${size}, last_created_at = ${endMicros}`,
  );

/** Sets the counts and times that the write path would have stored. */
const fillRollup = async (connection: Connection, database: DatabaseName): Promise<void> => {
  await countSeries(connection, true, database);
  await countSeries(connection, false, database);
  await connection.run(`insert into evaluation_times (stretch, earliest, latest)
    select id / ${numbersPerStretch}, min(created_at), max(created_at) from evaluation_results group by 1`);
};

const countedAtOnce = 20_000;

/** Otherwise the server would do it in the background, while it is measured. */
const countByTag = async (url: string): Promise<void> => {
  const database = await openThreadDatabase(url);
  while (await rollUpSomeTags(database, countedAtOnce));
  await database.destroy();
};

const [url = "", sizeText = ""] = process.argv.slice(2);
const size = Number(sizeText);
const cells = url.startsWith("sqlite:") ? await fillSqlite(url, size) : await fillPostgres(url, size);
process.stdout.write(JSON.stringify({ cells }));
