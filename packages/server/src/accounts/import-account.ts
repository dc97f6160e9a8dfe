import type { ColumnMetadata } from "kysely";
import { z } from "zod";
import { conflict, type ServiceError } from "../platform/errors.ts";
import { orAborted, withDeadline } from "../platform/limits/deadline.ts";
import { selectClosed } from "../platform/storage/closed-accounts-store.ts";
import { nowMicros } from "../platform/storage/columns.ts";
import { inSavepoint, insertRows } from "../platform/storage/rows.ts";
import type { Database, Tables } from "../platform/storage/schema/tables.ts";
import { allowPauses, longestPauseMs } from "../platform/storage/store.ts";
import { isMissingReference, isRefusedValue } from "../platform/storage/store-error.ts";
import { commandName } from "../platform/words.ts";
import {
  type AccountTable,
  accountTables,
  type Columns,
  findOrAddUsers,
  insertRevision,
  isAnyKnown,
  type Row,
  selectColumns,
  selectRows,
} from "./account-tables-store.ts";
import {
  ExportHeader,
  type ImportedLine,
  type ImportState,
  invalidImport,
  repeatedRow,
  toStored,
} from "./export-account.ts";
import { ensureAccount, lockAccount } from "./users-store.ts";

/** The number of rows in one statement. */
const rowsAtOnce = 200;

const column = z.union([z.string(), z.number(), z.null()]);
const Line = z.union([
  z.strictObject({
    table: z.string(),
    row: z.record(z.string(), column),
    texts: z.record(z.string(), column).optional(),
  }),
  z.strictObject({ kind: z.literal("end"), rows: z.int() }),
]);

export interface ImportOptions {
  /** The last migration of this database. */
  schema: string;
  /** The name of the account to import into; the exported account's name if absent. */
  accountName?: string | undefined;
  /** Reserves numbers for the results, and returns their offset from the exported numbers. */
  takeNumbers(transaction: Database, exported: { first: number; last: number }): Promise<number>;
  /** How long a line may take to arrive. */
  maxSilenceMs?: number;
  /** Stores results and counts them. Returns the ids of those that did not exist. */
  storeResults(transaction: Database, results: readonly { row: Row; texts: Row }[]): Promise<Row[]>;
}

/**
 * Stores an export in an account that has no data. If anything is wrong or the process stops early, nothing is stored. Until the import
 * is over, other writes wait on SQLite. On PostgreSQL the account's new users wait, and ascending reads of results stop before the
 * imported ones, so a file that falls silent is refused.
 */
export async function importAccount(
  database: Database,
  lines: AsyncIterable<NumberedLine>,
  options: ImportOptions,
): Promise<{ account: string; rows: number }> {
  const columnsOf = await selectColumns(database);
  const read = unlessSilent(lines, options.maxSilenceMs ?? longestPauseMs);
  // Nobody has to wait for the first line.
  const first = await read.next();
  const header = parse(ExportHeader, first.done === true ? { number: 1, text: "" } : first.value);
  return await database.transaction().execute(async (transaction) => {
    await allowPauses(transaction);
    if (header.schema !== options.schema)
      throw invalidImport(
        `The export is from another version of Presage (its schema is ${header.schema}, here it is ${options.schema}). Use the same version for both.`,
      );
    const accountName = options.accountName ?? header.account;
    const accountId = await ensureAccount(
      transaction,
      { account_id: Bun.randomUUIDv7(), created_at: nowMicros() },
      accountName,
    );
    await lockAccount(transaction, accountId);
    if ((await selectClosed(transaction, [accountId])).size > 0)
      throw conflict(
        `The account ${accountName} is being deleted. Finish that with \`${commandName} users erase\`, or name another one with --account.`,
      );
    await refuseUsedAccount(transaction, accountId, accountName, header);
    const userIds = await findOrAddUsers(transaction, accountId, header.users);
    const offset = header.results === null ? 0 : await options.takeNumbers(transaction, header.results);
    const state: ImportState = {
      accountId,
      userIds,
      offset,
      results: header.results,
      revisionIds: new Map(),
      owners: new Map(),
    };

    const rows = await storeLines(transaction, read, state, { columnsOf, ...options });
    return { account: accountName, rows };
  });
}

/** The lines as long as each arrives in time. */
async function* unlessSilent(
  lines: AsyncIterable<NumberedLine>,
  timeoutMs: number,
): AsyncGenerator<NumberedLine, void> {
  const timeoutError = () =>
    invalidImport(
      `The file gave nothing for ${timeoutMs / 1_000} s, while others wait for the import. Nothing was stored.`,
    );
  const read = lines[Symbol.asyncIterator]();
  for (;;) {
    const next = await withDeadline({ timeoutMs, timeoutError }, (signal) => orAborted(read.next(), signal));
    if (next.done === true) return;
    yield next.value;
  }
}

/** Stores the lines after the header, batched by table. Returns the number of rows. */
async function storeLines(
  transaction: Database,
  lines: AsyncGenerator<NumberedLine, void>,
  state: ImportState,
  { columnsOf, ...options }: ImportOptions & { columnsOf: Columns },
): Promise<number> {
  let waiting: ImportedLine[] = [];
  let rows = 0;
  const flush = async () => {
    await storeOrName(transaction, waiting, options);
    waiting = [];
  };
  for (;;) {
    const next = await lines.next();
    if (next.done === true) throw invalidImport("The file ends before its last line. Export it again.");
    const line = next.value;
    const parsed = parse(Line, line);
    if ("kind" in parsed) {
      await flush();
      if (parsed.rows === rows) return rows;
      throw invalidImport(`The file has ${rows} rows, but should have ${parsed.rows}. Export it again.`);
    }
    const table = accountTables.find((known) => known.table === parsed.table);
    if (table === undefined) throw invalidImport(`Line ${line.number}: there is no table ${parsed.table}.`);
    rows += 1;
    const imported = readRow(table, parsed, state, line.number);
    refuseWrongColumns(columnsOf, imported);
    if (table.owns === "revisions") {
      await flush();
      const id = Number(parsed.row.id);
      const stored = state.revisionIds.has(id)
        ? undefined
        : await insertRevision(transaction, imported.row).catch((cause) => refuseRow(imported, cause));
      if (stored === undefined) throw repeatedRow(imported);
      state.revisionIds.set(id, stored);
      continue;
    }
    if (waiting.length === rowsAtOnce || waiting.at(-1)?.table !== table) await flush();
    waiting.push(imported);
  }
}

/** Stores rows of one table. If the database refuses some, the error names the line of the first. */
async function storeOrName(
  transaction: Database,
  lines: readonly ImportedLine[],
  options: ImportOptions,
): Promise<void> {
  try {
    await inSavepoint(transaction, () => storeRows(transaction, lines, options));
  } catch (error) {
    if (!isUnusable(error)) throw error;
    for (const line of lines)
      await storeRows(transaction, [line], options).catch((cause) => refuseRow(line, cause));
    throw error;
  }
}

/** Whether a row is at fault: the database refuses its values, or a text of it should be JSON. */
const isUnusable = (error: unknown) => isRefusedValue(error) || error instanceof SyntaxError;

function refuseRow({ number, table: { table } }: ImportedLine, cause: unknown): never {
  if (isMissingReference(cause))
    throw invalidImport(`Line ${number}: what the row of ${table} refers to is not in the file.`);
  if (!isUnusable(cause)) throw cause;
  throw invalidImport(`Line ${number}: the row of ${table} is damaged: ${(cause as Error).message}.`);
}

async function storeRows(
  transaction: Database,
  lines: readonly ImportedLine[],
  { storeResults }: ImportOptions,
): Promise<void> {
  const [first] = lines;
  if (first === undefined) return;
  const { table, texts } = first.table;
  if (table === "evaluation_results") {
    const results = lines.map(({ row, texts: ofRow }) => ({ row, texts: ofRow ?? {} }));
    refuseRepeated(lines, ["id"], await storeResults(transaction, results));
    return;
  }
  const key = [first.table.owner.column, ...first.table.key];
  const ending = `on conflict do nothing returning ${key.map((name) => `"${name}"`).join(", ")}`;
  const rows = lines.map(({ row }) => row);
  refuseRepeated(lines, key, await insert(transaction, table, rows, ending));
  if (texts === undefined) return;
  await insert(
    transaction,
    texts.table,
    lines.flatMap((line) => (line.texts === undefined ? [] : [line.texts])),
  );
}

async function insert(transaction: Database, table: keyof Tables, rows: readonly Row[], ending = "") {
  // The caller has checked the columns.
  const all = rows as unknown as readonly Tables[typeof table][];
  return (await insertRows(transaction, table, all, ending)) as unknown as Row[];
}

/** Refuses lines whose rows were not stored because such a row exists. */
function refuseRepeated(lines: readonly ImportedLine[], key: readonly string[], stored: readonly Row[]) {
  const keyOf = (row: Row) => JSON.stringify(key.map((name) => String(row[name])));
  const left = new Set(stored.map(keyOf));
  const repeated = lines.find(({ row }) => !left.delete(keyOf(row)));
  if (repeated !== undefined) throw repeatedRow(repeated);
}

/**
 * A second import would duplicate data, and other data would get mixed with the import. Keys and audit events may exist: signing in
 * to a new server creates some.
 */
async function refuseUsedAccount(
  transaction: Database,
  accountId: string,
  name: string,
  { users }: ExportHeader,
): Promise<void> {
  for (const table of accountTables) {
    if (table.owner.of !== "account" || table.table === "audit_events") continue;
    const { value: found } = await selectRows(transaction, { ...table, rowsAtOnce: 1 }, accountId).next();
    if (!found || found.length === 0) continue;
    const advice = (await isAnyKnown(transaction, users))
      ? "Its users are known here, so that no other account can take them: import into a new database."
      : "Import into a new account: name one with --account.";
    throw conflict(`The account ${name} already has data (${table.table}). ${advice}`);
  }
}

function readRow(
  table: AccountTable,
  line: { row: Row; texts?: Row | undefined },
  state: ImportState,
  number: number,
): ImportedLine {
  try {
    return toStored(table, line, state, number);
  } catch (error) {
    throw error instanceof SyntaxError ? notExported(number) : error;
  }
}

/** SQLite would store a text as a number, too long a number, and a row without its key. PostgreSQL has no text with NUL. */
function refuseWrongColumns(
  columnsOf: Columns,
  { table: { table, key, texts }, row, texts: ofRow, number }: ImportedLine,
) {
  for (const [of, values] of [
    [table, row],
    ...(texts && ofRow ? [[texts.table, ofRow] as const] : []),
  ] as const) {
    const columns = columnsOf.get(of) ?? [];
    const unknown = Object.keys(values).find((name) => !columns.some((column) => column.name === name));
    if (unknown !== undefined) throw invalidImport(`Line ${number}: ${of} has no column ${unknown}.`);
    const wrong = columns.find(({ name, dataType, isNullable }) => {
      const value = values[name] ?? null;
      // Each stored revision gets a new id.
      if (of === "dataset_revisions" && name === "id") return false;
      if (value === null) return !isNullable || (of === table && key.includes(name));
      if (/text/i.test(dataType)) return typeof value !== "string" || value.includes("\0");
      return typeof value !== "number" || (/int/i.test(dataType) && !isWithin(value, { name, dataType }));
    });
    if (wrong !== undefined)
      throw invalidImport(`Line ${number}: ${wrong.name} of ${of} is missing or has a wrong value.`);
  }
}

/** SQLite has only integers of 64 bits, and declares results' numbers like shorter ones. */
function isWithin(value: number, { name, dataType }: Pick<ColumnMetadata, "name" | "dataType">): boolean {
  const isLong = /int8|bigint/i.test(dataType) || name === "id" || name === "result_id";
  return Number.isSafeInteger(value) && (isLong || (value >= -(2 ** 31) && value < 2 ** 31));
}

interface NumberedLine {
  number: number;
  text: string;
}

function parse<Schema extends z.ZodType>(schema: Schema, { number, text }: NumberedLine): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw notExported(number);
  }
}

function notExported(number: number): ServiceError {
  return invalidImport(`Line ${number} is not one of an exported account.`);
}
