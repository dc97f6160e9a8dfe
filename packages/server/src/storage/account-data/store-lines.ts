import { z } from "zod";
import { ServiceError } from "../../errors.ts";
import type { Database, Tables } from "../schema/tables.ts";
import { insertRows } from "../writing/insert-rows.ts";
import { type Row, selectRows } from "./account-rows-store.ts";
import { type AccountTable, accountTables } from "./account-tables.ts";
import type { EraseResults } from "./clear-imports.ts";
import type { ExportHeader } from "./export-account.ts";
import { isAnyKnown } from "./imported-users-store.ts";
import { type ImportedLine, invalidImport, type Place, toStored } from "./to-stored.ts";

/** Rows of one statement. */
export const rowsAtOnce = 200;
export const firstRows = 20;
/** A few milliseconds. */
const maxCharacters = 1_000_000;

const column = z.union([z.string(), z.number(), z.null()]);
const Line = z.union([
  z.strictObject({
    table: z.string(),
    row: z.record(z.string(), column),
    texts: z.record(z.string(), column).optional(),
  }),
  z.strictObject({ kind: z.literal("end"), rows: z.int() }),
]);
/** A result as it was exported. */
export interface ImportedResult {
  row: Row;
  texts: Row;
}

export interface ImportOptions {
  /** The last migration of this database. */
  schema: string;
  /** The name of the account that gets everything; absent: the exported one's. */
  accountName?: string | undefined;
  /** Takes the numbers of results, and returns how much greater they are than the exported ones. */
  takeNumbers(transaction: Database, exported: { first: number; last: number }): Promise<number>;
  /** Stores results and counts them. */
  storeResults(transaction: Database, results: readonly ImportedResult[]): Promise<void>;
  /** Deletes results, and what is counted of them, where an import will not be completed. */
  eraseResults: EraseResults;
}

/** A file whose first line is read. */
export interface OpenedFile {
  header: ExportHeader;
  accountName: string;
  lines: AsyncIterator<NumberedLine>;
  columnsOf: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Where its rows go, and how. */
export interface Storing {
  place: Place;
  /** Stores some rows: in one transaction with all others, or in one of its own. Returns how many the next one should have. */
  store(work: (transaction: Database) => Promise<void>): Promise<number>;
  /** Keeps rows for later; absent: everything is stored in the order of the file. */
  defer?(line: ImportedLine): boolean;
}

export async function openPlace(
  transaction: Database,
  accountId: string,
  userIds: readonly string[],
  { header: { results } }: OpenedFile,
  { takeNumbers }: ImportOptions,
): Promise<Place> {
  const offset = results === null ? 0 : await takeNumbers(transaction, results);
  return { accountId, userIds, offset, results, revisionIds: new Map(), owners: new Map() };
}

/** Stores all lines after the first. Returns the number of rows. */
export async function storeLines(
  { lines, columnsOf }: OpenedFile,
  options: ImportOptions,
  { place, store, defer = () => false }: Storing,
): Promise<number> {
  let waiting: ImportedLine[] = [];
  let waitingCharacters = 0;
  let most = firstRows;
  let rows = 0;
  const flush = async () => {
    const some = waiting;
    waiting = [];
    waitingCharacters = 0;
    if (some.length > 0) most = await store((transaction) => storeRows(transaction, some, options));
  };
  for (;;) {
    const next = await lines.next();
    if (next.done === true) throw invalidImport("The file ends before its last line. Export it again.");
    const line = next.value;
    const parsed = parse(Line, line);
    if ("kind" in parsed) {
      await flush();
      if (parsed.rows !== rows)
        throw invalidImport(`The file has ${rows} rows, but should have ${parsed.rows}. Export it again.`);
      return rows;
    }
    const table = accountTables.find((known) => known.table === parsed.table);
    if (table === undefined) throw invalidImport(`Line ${line.number}: there is no table ${parsed.table}.`);
    refuseUnknownColumns(columnsOf, table, parsed, line.number);
    rows += 1;
    const imported = toStored(table, parsed, place, line.number);
    if (defer(imported)) continue;
    if (table.owns?.as === "revisions") {
      await flush();
      await store(async (transaction) => {
        place.revisionIds.set(Number(parsed.row.id), await storeRevision(transaction, imported.row));
      });
      continue;
    }
    const isFull = waiting.length >= most || waitingCharacters > maxCharacters;
    if (isFull || waiting.at(-1)?.table !== table) await flush();
    waiting.push(imported);
    waitingCharacters += line.text.length;
  }
}

export async function storeRows(
  transaction: Database,
  lines: readonly ImportedLine[],
  { storeResults }: ImportOptions,
): Promise<void> {
  const [first] = lines;
  if (first === undefined) return;
  const { table, texts } = first.table;
  if (table === "evaluation_results") {
    await storeResults(
      transaction,
      lines.map(({ row, texts: ofRow }) => ({ row, texts: ofRow ?? {} })),
    );
    return;
  }
  await insert(
    transaction,
    table,
    lines.map(({ row }) => row),
  );
  if (texts === undefined) return;
  await insert(
    transaction,
    texts.table,
    lines.flatMap((line) => (line.texts === undefined ? [] : [line.texts])),
  );
}

async function insert(transaction: Database, table: keyof Tables, rows: readonly Row[]): Promise<void> {
  // Their columns are checked.
  await insertRows(transaction, table, rows as unknown as readonly Tables[typeof table][]);
}

async function storeRevision(transaction: Database, { id: _, ...row }: Row): Promise<number> {
  const stored = await transaction
    .insertInto("dataset_revisions")
    .values(row as unknown as Omit<Tables["dataset_revisions"], "id">)
    .returning("id")
    .executeTakeFirstOrThrow();
  return Number(stored.id);
}

/**
 * Twice the same would be in it, and what it has would be mixed with what is imported. Keys may be there, and events: signing in to a
 * new server makes some.
 */
export async function refuseUsedAccount(
  transaction: Database,
  accountId: string,
  { header: { users }, accountName: name }: OpenedFile,
): Promise<void> {
  for (const table of accountTables) {
    if (table.owner.of !== "account" || table.table === "audit_events") continue;
    const found = await selectRows(transaction, { ...table, rowsAtOnce: 1 }, accountId, undefined);
    if (found.length === 0) continue;
    const advice = (await isAnyKnown(transaction, users))
      ? "Its users are known here, so that no other account can take them: import into a new database."
      : "Import into a new account: name one with --account.";
    throw new ServiceError("conflict", `The account ${name} has data already (${table.table}). ${advice}`);
  }
}

function refuseUnknownColumns(
  columnsOf: ReadonlyMap<string, ReadonlySet<string>>,
  { table, texts }: AccountTable,
  line: { row: Row; texts?: Row | undefined },
  number: number,
): void {
  for (const [of, row] of [
    [table, line.row],
    [texts?.table ?? "", line.texts ?? {}],
  ] as const) {
    const unknown = Object.keys(row).find((name) => columnsOf.get(of)?.has(name) !== true);
    if (unknown !== undefined) throw invalidImport(`Line ${number}: ${of} has no column ${unknown}.`);
  }
}

export interface NumberedLine {
  number: number;
  text: string;
}

export function parse<Schema extends z.ZodType>(
  schema: Schema,
  { number, text }: NumberedLine,
): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw invalidImport(`Line ${number} is not one of an exported account.`);
  }
}
