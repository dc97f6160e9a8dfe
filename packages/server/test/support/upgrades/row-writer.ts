import { createHmac } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { isPostgres } from "../../../src/platform/storage/store.ts";

type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

/** A row as it was stored, in the columns that its table had. */
export interface WrittenRow {
  table: string;
  row: Row;
}

/** Writes rows in the schema of an earlier version. */
export interface RowWriter {
  /** The version's last migration. */
  version: string;
  has(table: string): boolean;
  /**
   * Inserts a row in the columns that the version's table has, and returns it as the database does. Does nothing if the version has no
   * such table.
   */
  insert(table: string, row: Row): Promise<Row | undefined>;
  /** Runs a statement that the version ran, on tables of one row. */
  run(statement: string): Promise<void>;
  written: readonly WrittenRow[];
  /** Tables that rows were written to, or that the version leaves empty on this database. */
  covered: ReadonlySet<string>;
  /** Notes that a table is filled by other means. */
  cover(table: string): void;
  isPostgres: boolean;
}

export async function createRowWriter(database: Kysely<unknown>, version: string): Promise<RowWriter> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  const columns = new Map(tables.map(({ name, columns }) => [name, columns.map((column) => column.name)]));
  const written: WrittenRow[] = [];
  const covered = new Set<string>();
  return {
    version,
    isPostgres: isPostgres(database),
    has: (table) => columns.has(table),
    written,
    covered,
    cover: (table) => void covered.add(table),
    async insert(table, row) {
      const there = columns.get(table);
      if (there === undefined) return undefined;
      const cells = Object.entries(row).filter(([column]) => there.includes(column));
      const names = sql.join(cells.map(([column]) => sql.ref(column)));
      const values = sql.join(cells.map(([, value]) => sql`${value}`));
      const { rows } = await sql<Row>`
        insert into ${sql.table(table)} (${names}) values (${values}) returning *`.execute(database);
      const [stored] = rows;
      if (stored === undefined) throw new Error(`Nothing was stored in ${table}.`);
      written.push({ table, row: stored });
      covered.add(table);
      return stored;
    },
    async run(statement) {
      await sql.raw(statement).execute(database);
    },
  };
}

/** The digest of a key or a token, as every version stores it. */
export function digestOf(secret: string, token: string): string {
  return createHmac("sha256", secret).update(token).digest("base64");
}
