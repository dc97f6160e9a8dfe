import { CompiledQuery } from "kysely";
import { isPostgres } from "./is-postgres.ts";
import type { Database, Tables } from "./tables.ts";

/** SQLite takes 32,766 parameters in a statement, PostgreSQL twice as many. */
const maxParameters = 32_000;

/**
 * Inserts many rows. The statement is written out here, because Kysely's builder makes several objects for each value,
 * which took longer than the insert itself. `ending` is put behind it as it is; the rows that it returns are the answer.
 */
export async function insertRows<Table extends keyof Tables>(
  database: Database,
  table: Table,
  rows: readonly Tables[Table][],
  ending = "",
): Promise<Partial<Tables[Table]>[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const returned: Partial<Tables[Table]>[] = [];
  const columns = Object.keys(first) as (keyof Tables[Table] & string)[];
  const areNumbered = isPostgres(database);
  const names = columns.map((column) => `"${column}"`).join(", ");
  const rowsAtOnce = Math.floor(maxParameters / columns.length);
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const some = rows.slice(at, at + rowsAtOnce);
    const placeholders = placeholdersOf(some.length, columns.length, areNumbered);
    const statement = `insert into "${table}" (${names}) values ${placeholders} ${ending}`;
    const parameters = some.flatMap((row) => columns.map((column) => row[column]));
    // Kysely would freeze the parameters, and freezing thousands of them takes as long as inserting them.
    const query = { ...CompiledQuery.raw(statement), parameters };
    returned.push(...(await database.executeQuery<Partial<Tables[Table]>>(query)).rows);
  }
  return returned;
}

function placeholdersOf(rows: number, columns: number, areNumbered: boolean): string {
  if (!areNumbered) {
    const row = `(${Array(columns).fill("?").join(", ")})`;
    return Array(rows).fill(row).join(", ");
  }
  const row = (index: number) =>
    `(${Array.from({ length: columns }, (_, column) => `$${index * columns + column + 1}`).join(", ")})`;
  return Array.from({ length: rows }, (_, index) => row(index)).join(", ");
}
