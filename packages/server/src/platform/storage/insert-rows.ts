import { CompiledQuery } from "kysely";
import { isPostgres } from "./is-postgres.ts";
import type { Database, Tables } from "./schema/tables.ts";

/** PostgreSQL accepts twice as many in a statement. */
const maxParameters = 32_000;

/** Some rows of one table. */
export type Insertion = {
  [Table in keyof Tables]: { table: Table; rows: readonly Tables[Table][] };
}[keyof Tables];

/**
 * Inserts many rows. The statement is built here because Kysely's builder makes several objects per value, which took longer than
 * the insert itself. `ending` is appended to each statement; the rows that it returns are the result.
 */
export async function insertRows<Table extends keyof Tables>(
  database: Database,
  table: Table,
  rows: readonly Tables[Table][],
  ending = "",
): Promise<Partial<Tables[Table]>[]> {
  const [first] = rows;
  if (first === undefined) return [];
  if (!isPostgres(database)) return await insertEach(database, table, rows, ending);
  const mostAtOnce = Math.floor(maxParameters / Object.keys(first).length);
  const returned: Partial<Tables[Table]>[] = [];
  for (let at = 0; at < rows.length; at += mostAtOnce) {
    const { statement, parameters } = insertStatement(table, rows.slice(at, at + mostAtOnce), 0);
    const part = await run<Partial<Tables[Table]>>(database, `${statement} ${ending}`, parameters);
    returned.push(...part);
  }
  return returned;
}

/** On SQLite, with one statement for a row, which stays prepared however many rows there are. All are inserted or none. */
async function insertEach<Table extends keyof Tables>(
  database: Database,
  table: Table,
  rows: readonly Tables[Table][],
  ending: string,
): Promise<Partial<Tables[Table]>[]> {
  if (!database.isTransaction) {
    return await database
      .transaction()
      .execute((transaction) => insertEach(transaction, table, rows, ending));
  }
  const columns = columnsOf(rows);
  const placeholders = columns.map(() => "?").join(", ");
  return await run(
    database,
    `${insertInto(table, columns)} (${placeholders}) ${ending}`,
    rows.map((row) => columns.map((column) => row[column])),
  );
}

/** Inserts rows into several tables: on PostgreSQL in one statement if possible, as each takes a round trip. */
export async function insertTogether(database: Database, insertions: readonly Insertion[]): Promise<void> {
  const some = insertions.filter(({ rows }) => rows.length > 0);
  const parameters = some.reduce(
    (sum, { rows: [first, ...others] }) => sum + Object.keys(first ?? {}).length * (1 + others.length),
    0,
  );
  if (!isPostgres(database) || some.length < 2 || parameters > maxParameters) {
    for (const { table, rows } of some)
      await insertRows(database, table, rows as readonly Tables[typeof table][]);
    return;
  }
  const statements: string[] = [];
  const all: unknown[] = [];
  for (const { table, rows } of some) {
    const insertion = insertStatement(table, rows as readonly Tables[typeof table][], all.length);
    statements.push(insertion.statement);
    for (const parameter of insertion.parameters) all.push(parameter);
  }
  const last = statements.pop();
  const others = statements.map((statement, index) => `part_${index} as (${statement})`);
  await run(database, `with ${others.join(", ")} ${last}`, all);
}

function insertStatement<Table extends keyof Tables>(
  table: Table,
  rows: readonly Tables[Table][],
  parametersBefore: number,
): { statement: string; parameters: unknown[] } {
  const columns = columnsOf(rows);
  return {
    statement: `${insertInto(table, columns)} ${numberedPlaceholders(rows.length, columns.length, parametersBefore)}`,
    parameters: rows.flatMap((row) => columns.map((column) => row[column])),
  };
}

function columnsOf<Row extends object>([first]: readonly Row[]): (keyof Row & string)[] {
  return Object.keys(first ?? {}) as (keyof Row & string)[];
}

function insertInto(table: string, columns: readonly string[]): string {
  return `insert into "${table}" (${columns.map((column) => `"${column}"`).join(", ")}) values`;
}

function numberedPlaceholders(rows: number, columns: number, before: number): string {
  const row = (index: number) =>
    `(${Array.from({ length: columns }, (_, column) => `$${before + index * columns + column + 1}`).join(", ")})`;
  return Array.from({ length: rows }, (_, index) => row(index)).join(", ");
}

async function run<Row>(database: Database, statement: string, parameters: unknown[]): Promise<Row[]> {
  // Kysely would freeze the parameters, and freezing thousands of them takes as long as inserting them.
  return (await database.executeQuery<Row>({ ...CompiledQuery.raw(statement), parameters })).rows;
}
