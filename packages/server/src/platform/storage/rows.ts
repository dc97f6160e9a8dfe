import { CompiledQuery, sql } from "kysely";
import type { Database, Tables } from "./schema/tables.ts";
import { isPostgres } from "./store.ts";

/** PostgreSQL accepts twice as many in a statement. */
const maxParameters = 32_000;

/** Some rows of one table. */
export type Insertion = {
  [Table in keyof Tables]: { table: Table; rows: readonly Tables[Table][] };
}[keyof Tables];

/** The end of a statement that inserts something with a name unique in its account. */
export const unlessNameIsTaken = "on conflict (account_id, name) do nothing returning id";

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

/** Inserts on SQLite with a statement for one row, which stays prepared however many rows there are. All rows are inserted or none. */
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

/**
 * A statement that is compiled once: building a short one takes longer than running it. `build` builds it with any values; the values of
 * each execution follow the order of their places in the statement.
 */
export function prepareStatement<Row>(
  build: (database: Database) => { compile(): CompiledQuery<Row> },
): (database: Database, values: readonly unknown[]) => Promise<Row[]> {
  const compiled = new Map<"PostgreSQL" | "SQLite", CompiledQuery<Row>>();
  return async (database, values) => {
    const dialect = isPostgres(database) ? "PostgreSQL" : "SQLite";
    const query = compiled.get(dialect) ?? build(database).compile();
    compiled.set(dialect, query);
    if (values.length !== query.parameters.length)
      throw new Error(`A statement has ${query.parameters.length} values, and ${values.length} are given`);
    return (await database.executeQuery<Row>({ ...query, parameters: values })).rows;
  };
}

/** A part of a transaction. If it fails, the transaction can go on without it. */
export async function inSavepoint(transaction: Database, work: () => Promise<void>): Promise<void> {
  await sql`savepoint part`.execute(transaction);
  try {
    await work();
  } catch (error) {
    await sql`rollback to savepoint part`.execute(transaction);
    throw error;
  }
  await sql`release savepoint part`.execute(transaction);
}

const named = [
  "select id, coalesce(name, email) as name, account_id from users",
  "select api_keys.id, api_keys.name, account_id from api_keys join users on users.id = user_id",
  "select public_id as id, name, account_id from evaluator_profiles",
  "select id, environment as name, account_id from episodes",
  "select id, run_name as name, account_id from goals",
  "select id, name, account_id from worlds where deleted_at is null",
  ...["datasets", "environments", "error_taxonomies", "projects", "reality_checks", "runs"].map(
    (table) => `select id, name, account_id from ${table}`,
  ),
];

/** The current names of an account's things, by their ids. Things that are gone or belong to another account have none. */
export async function selectNames(
  reader: Database,
  accountId: string,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null);
  if (wanted.length === 0) return new Map();
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from (${sql.raw(named.join(" union all "))}) as named
    where account_id = ${accountId} and name is not null and id in (${sql.join(wanted)})`.execute(reader);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Deletes an account's share links to things that are gone. */
export async function deleteSharesOf(transaction: Database, accountId: string, goneIds: readonly string[]) {
  const gone = new Set(goneIds);
  const shares = await transaction
    .selectFrom("shares")
    .select(["id", "object"])
    .where("account_id", "=", accountId)
    .execute();
  const ended = shares.filter(({ object }) => object.split(",").some((id) => gone.has(id)));
  if (ended.length === 0) return;
  await transaction
    .deleteFrom("shares")
    .where(
      "id",
      "in",
      ended.map(({ id }) => id),
    )
    .execute();
}
