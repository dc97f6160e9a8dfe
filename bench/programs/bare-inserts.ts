// bun bare-inserts.ts SOURCE DESTINATION RESULTS: copies the rows of all results from one SQLite file to another, as fast as a plain
// loop can, RESULTS of them in each transaction. Same schema, same durability, prepared statements, but no counts and no requests.
import type { SQLQueryBindings } from "bun:sqlite";
import { openDatabase } from "../../packages/server/src/platform/storage/open.ts";
import { openSqlite } from "../../packages/server/src/platform/storage/sqlite/sqlite-file.ts";

const [sourcePath = "", destinationPath = "", atOnce = ""] = process.argv.slice(2);
const resultsAtOnce = Number(atOnce);

const source = openSqlite(sourcePath);
const tables = (
  [
    ["evaluation_results", "id"],
    ["evaluation_payloads", "result_id"],
    ["evaluation_tags", "result_id"],
  ] as const
).map(([name, id]) => {
  const selected = source.query(`select * from ${name} order by ${id}`);
  const rows = selected.values() as SQLQueryBindings[][];
  return { name, rows, columns: selected.columnNames, idAt: selected.columnNames.indexOf(id) };
});
source.close();

const migrated = await openDatabase(`sqlite:${destinationPath}`, () => {});
await migrated.destroy();
const destination = openSqlite(destinationPath);

const inserts = tables.map(({ name, rows, columns, idAt }) => ({
  statement: destination.prepare(
    `insert into ${name} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
  ),
  rows,
  idAt,
  next: 0,
}));
const results = tables[0]?.rows ?? [];

const startedAtMs = performance.now();
for (let at = resultsAtOnce; at < results.length + resultsAtOnce; at += resultsAtOnce) {
  // All rows of a result go into the same transaction.
  const lastId = Number(results[Math.min(at, results.length) - 1]?.[tables[0]?.idAt ?? 0]);
  destination.run("begin immediate");
  for (const insert of inserts) {
    for (;;) {
      const row = insert.rows[insert.next];
      if (row === undefined || Number(row[insert.idAt]) > lastId) break;
      insert.statement.run(...row);
      insert.next += 1;
    }
  }
  destination.run("commit");
}
const durationMs = performance.now() - startedAtMs;

const { stored } = destination.query("select count(*) as stored from evaluation_results").get() as {
  stored: number;
};
if (stored !== results.length) throw new Error(`read ${results.length} results but stored ${stored}`);
process.stdout.write(JSON.stringify({ results: stored, durationMs }));
destination.close();
