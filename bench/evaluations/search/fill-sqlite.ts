import { openSqlite } from "../../../packages/server/src/platform/storage/sqlite-file.ts";
import { countByTag } from "./count-by-tag.ts";
import { insertResults, insertTextsAndTags, judge } from "./distribution.ts";
import { fillRollup, setLastNumber } from "./fill-rollup.ts";

const resultsAtOnce = 100_000;

/** Creates the indexes after the rows, which takes a third of the time. Primary keys stay. Returns the number of counts. */
export const fillSqlite = async (url: string, size: number): Promise<number> => {
  const database = openSqlite(url.slice("sqlite:".length));
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
