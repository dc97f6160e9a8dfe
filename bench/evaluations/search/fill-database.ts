// bun fill-database.ts URL SIZE: fills a database created by Presage with SIZE results of its one account, by SQL. Writes
// the resulting number of rollup cells to standard output.
import { fillPostgres } from "./fill-postgres.ts";
import { fillSqlite } from "./fill-sqlite.ts";

const [url = "", sizeText = ""] = process.argv.slice(2);
const size = Number(sizeText);
const cells = url.startsWith("sqlite:") ? await fillSqlite(url, size) : await fillPostgres(url, size);
process.stdout.write(JSON.stringify({ cells }));
