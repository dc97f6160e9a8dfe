import { Role } from "@presage/contract";
import { z } from "zod";
import { conflict, type ServiceError } from "../platform/errors.ts";
import { nowMicros } from "../platform/storage/columns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import {
  type AccountTable,
  accountTables,
  type Row,
  type RowOwner,
  selectAccountUsers,
  selectResultNumbers,
  selectRows,
  selectTexts,
} from "./account-tables-store.ts";

/** JSON in which each known `revisionId` is replaced by its new id. Unknown ids stay. */
function mapRevisions(json: string, ids: ReadonlyMap<number, number>): string {
  return mapField(json, "revisionId", (id) => ids.get(Number(id)) ?? id);
}

function mapField(json: string, field: string, map: (value: unknown) => unknown): string {
  return JSON.stringify(JSON.parse(json, (name, value: unknown) => (name === field ? map(value) : value)));
}

/** The request of a prediction made on a page starts with its user's id; the rest of the client's JSON must stay unchanged. */
function mapAsker(texts: Row | undefined, map: (user: unknown) => unknown): Row | undefined {
  if (typeof texts?.request !== "string") return texts;
  const request = texts.request.replace(
    /^\{"user_id":("[-0-9a-f]{36}"|\d+)/,
    (_, user: string) => `{"user_id":${JSON.stringify(map(JSON.parse(user)))}`,
  );
  return { ...texts, request };
}

/** The first characters of an export. */
export const accountExportStart = '{"kind":"presage account"';

/** PostgreSQL has no text with NUL. */
const text = z.string().refine((value) => !value.includes("\0"));
/** An import takes as many numbers, also if it is refused later: a damaged one must not take nearly all. */
const maxResultNumber = 2 ** 48;

/** The first line of an export. */
export const ExportHeader = z.strictObject({
  kind: z.literal("presage account"),
  /** The last migration of the database: with other migrations, columns may differ. */
  schema: z.string(),
  account: text.min(1),
  /** Rows refer to users by their index in this list. */
  users: z.array(
    z.strictObject({
      oidc_issuer: text,
      oidc_subject: text,
      email: text.nullable(),
      name: text.nullable(),
      role: Role,
      created_at: z.int(),
    }),
  ),
  /** The range of the results' numbers. */
  results: z
    .strictObject({ first: z.int().min(1), last: z.int().max(maxResultNumber) })
    .refine(({ first, last }) => first <= last)
    .nullable(),
});
export type ExportHeader = z.infer<typeof ExportHeader>;

/** Stands for a user who is not in the export. */
const goneUser = -1;

function isAboutUser({ action }: Row): boolean {
  return String(action).startsWith("user.");
}

type OwnerIds = Map<RowOwner, (string | number)[]>;

/**
 * Exports everything in an account line by line, with a few rows in memory at a time. The same data makes the same lines, whatever
 * ids its users and revisions have. `snapshot` should see one state of the database.
 */
export async function* exportAccount(
  snapshot: Database,
  account: { id: string; name: string },
  schema: string,
): AsyncGenerator<string, void> {
  const users = await selectAccountUsers(snapshot, account.id);
  const header: ExportHeader = {
    kind: "presage account",
    schema,
    account: account.name,
    users: users.map(({ id: _, ...user }) => user),
    results: (await selectResultNumbers(snapshot, account.id)) ?? null,
  };
  yield JSON.stringify(header);
  const owners: OwnerIds = new Map([
    ["account", [account.id]],
    ["users", users.map(({ id }) => id)],
  ]);
  const numbers = {
    users: new Map(users.map(({ id }, index) => [id, index])),
    revisions: new Map<number, number>(),
  };
  let rows = 0;
  for (const table of accountTables) {
    const owned: (string | number)[] = [];
    const held = holdByHour();
    for (const ownerId of owners.get(table.owner.of) ?? []) {
      for await (const { row, texts } of readRows(snapshot, table, ownerId)) {
        const id = row[table.key[0]];
        if (table.owns !== undefined && id !== undefined && id !== null) owned.push(id);
        if (table.owns === "revisions") numbers.revisions.set(Number(id), owned.length);
        const text = JSON.stringify({
          table: table.table,
          row: toExported(table, row, numbers),
          texts: mapAsker(texts, (id) => numbers.users.get(String(id)) ?? id),
        });
        if (table.maybeUser === undefined) yield text;
        else yield* held.add(text, row.hour);
        rows += 1;
      }
    }
    yield* held.rest();
    if (table.owns !== undefined) owners.set(table.owns, owned);
  }
  yield JSON.stringify({ kind: "end", rows });
}

/** An import changes users' ids, so the rows of an hour are sorted by their exported lines rather than by their ids. */
function holdByHour() {
  let lines: string[] = [];
  let heldHour: Row[string] | undefined;
  function rest(): string[] {
    const sorted = lines.sort();
    lines = [];
    return sorted;
  }
  return {
    /** Returns the sorted lines of the previous hour when a new hour begins. */
    add(line: string, hour: Row[string] | undefined): string[] {
      const done = hour === heldHour ? [] : rest();
      heldHour = hour;
      lines.push(line);
      return done;
    },
    rest,
  };
}

async function* readRows(
  snapshot: Database,
  table: AccountTable,
  ownerId: string | number,
): AsyncGenerator<{ row: Row; texts: Row | undefined }, void> {
  const { texts: named } = table;
  for await (const rows of selectRows(snapshot, table, ownerId)) {
    const keys = rows.map((row) => row[named?.key ?? ""]);
    const texts = named && (await selectTexts(snapshot, named.table, named.column, keys));
    for (const row of rows) yield { row, texts: texts?.get(String(row[named?.key ?? ""])) };
  }
}

function toExported(
  { table, users = [], maybeUser, revisions = [], without = [] }: AccountTable,
  stored: Row,
  numbers: { users: ReadonlyMap<string, number>; revisions: ReadonlyMap<number, number> },
): Row {
  const { account_id: _, ...row } = asPaused(table, stored);
  for (const column of without) delete row[column];
  for (const column of users) {
    if (row[column] !== null) row[column] = numbers.users.get(String(row[column])) ?? goneUser;
  }
  if (maybeUser !== undefined) {
    row[maybeUser] = numbers.users.get(String(row[maybeUser])) ?? row[maybeUser] ?? null;
  }
  // An event about a user, or about something of theirs, refers to them by index too.
  if (table === "audit_events") {
    if (isAboutUser(row)) row.object_id = numbers.users.get(String(row.object_id)) ?? row.object_id ?? null;
    row.detail = mapField(String(row.detail), "user_id", (id) => numbers.users.get(String(id)) ?? id);
  }
  for (const column of revisions) {
    if (row[column] !== null) row[column] = numbers.revisions.get(Number(row[column])) ?? null;
  }
  if (table === "runs") row.target = mapRevisions(String(row.target), numbers.revisions);
  return row;
}

const unfinished: readonly unknown[] = ["queued", "running", "paused"];

/** Only one of the two servers may continue a run or a reality check: the one on which it is resumed. */
function asPaused(table: AccountTable["table"], row: Row): Row {
  const reason = "It was exported before its end.";
  if (table === "reality_checks")
    return unfinished.includes(row.status) ? { ...row, status: "paused", reason } : row;
  if (table !== "runs" || row.target_kind === "external") return row;
  if (!unfinished.includes(row.status)) return { ...row, lease_until: 0 };
  return { ...row, status: "paused", paused_by: "user", status_reason: reason, lease_until: 0 };
}

/** A user who has been deleted, or was never in the export. */
const nobody = "00000000-0000-0000-0000-000000000000";

/** State kept while a file is imported. */
export interface ImportState {
  accountId: string;
  userIds: readonly string[];
  revisionIds: Map<number, number>;
  offset: number;
  /** The range of the exported results' numbers. */
  results: ExportHeader["results"];
  /** The ids of the rows stored so far that other rows belong to. */
  owners: Map<RowOwner, Set<Row[string]>>;
}

export interface ImportedLine {
  table: AccountTable;
  number: number;
  /** As the file has it, for example `id 7`. */
  key: string;
  row: Row;
  texts: Row | undefined;
}

/** Converts a line of an export into the row to store. */
export function toStored(
  table: AccountTable,
  line: { row: Row; texts?: Row | undefined },
  state: ImportState,
  number: number,
): ImportedLine {
  const { accountId, userIds, revisionIds } = state;
  const row: Row = { ...line.row };
  if (table.owner.of === "account") row.account_id = accountId;
  else refuseStranger(table, row, state, number);
  if (table.owns !== undefined) {
    const owned = state.owners.get(table.owns) ?? new Set();
    state.owners.set(table.owns, owned.add(row[table.key[0]] ?? null));
  }
  for (const name of table.users ?? []) {
    if (row[name] !== null) row[name] = userIds[Number(row[name])] ?? nobody;
  }
  const { maybeUser } = table;
  if (maybeUser !== undefined && typeof row[maybeUser] === "number") {
    row[maybeUser] = userIds[row[maybeUser]] ?? nobody;
  }
  const idAt = (place: unknown) => (typeof place === "number" ? (userIds[place] ?? nobody) : place);
  if (table.table === "audit_events") {
    if (isAboutUser(row) && typeof row.object_id === "number")
      row.object_id = userIds[row.object_id] ?? nobody;
    row.detail = mapField(String(row.detail), "user_id", idAt);
  }
  for (const name of table.revisions ?? []) {
    if (row[name] !== null) row[name] = revisionIds.get(Number(row[name])) ?? null;
  }
  for (const name of table.results ?? []) row[name] = toStoredNumber(table, row[name], state, number);
  if (table.table === "runs") {
    row.target = mapRevisions(String(row.target), revisionIds);
    row.lease_id = null;
  }
  if (table.table === "api_keys") {
    // No real key has such a digest.
    Object.assign(row, { digest: `imported:${row.id}`, revoked_at: nowMicros(), last_used_at: null });
  }
  // The link does not work here, and is deleted together with expired links.
  if (table.table === "shares") Object.assign(row, { digest: `imported:${row.id}`, expires_at: nowMicros() });
  // Texts belong to their row, whatever id they name.
  const texts = table.texts &&
    line.texts && { ...mapAsker(line.texts, idAt), [table.texts.column]: row[table.texts.key] ?? null };
  const key = table.key.map((name) => `${name} ${line.row[name]}`).join(", ");
  return { table, number, key, row, texts };
}

/** A file may name rows of other accounts. Owners are stored before the rows that belong to them. */
function refuseStranger({ table, owner }: AccountTable, row: Row, state: ImportState, number: number): void {
  const id = row[owner.column];
  const isKnown =
    owner.of === "users"
      ? state.userIds[Number(id ?? -1)] !== undefined
      : state.owners.get(owner.of)?.has(id ?? null) === true;
  if (!isKnown)
    throw invalidImport(`Line ${number}: what the row of ${table} belongs to is not in the file.`);
}

function toStoredNumber(
  { table }: AccountTable,
  exported: Row[string] | undefined,
  { results, offset }: ImportState,
  number: number,
): number | null {
  if (exported === null || exported === undefined) return null;
  const isExported =
    results !== null &&
    Number.isInteger(exported) &&
    Number(exported) >= results.first &&
    Number(exported) <= results.last;
  // A verdict is kept after its result is deleted.
  if (!isExported && table === "run_verdicts") return null;
  if (!isExported) throw invalidImport(`Line ${number}: the file has no result ${exported}.`);
  return Number(exported) + offset;
}

export function repeatedRow({ table, number, key }: ImportedLine): ServiceError {
  return invalidImport(
    `Line ${number}: there is a row of ${table.table} with the ${key} already, from an earlier line or in another account.`,
  );
}

export function invalidImport(message: string): ServiceError {
  return conflict(message);
}
