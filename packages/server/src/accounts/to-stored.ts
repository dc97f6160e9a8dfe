import { ServiceError } from "../platform/errors.ts";
import { nowMicros } from "../platform/storage/micros.ts";
import type { Row } from "./account-rows-store.ts";
import type { AccountTable, RowOwner } from "./account-tables.ts";
import { type ExportHeader, isAboutUser } from "./export-account.ts";
import { mapRevisions } from "./map-revisions.ts";

/** Who is gone, or was never in the export. */
const nobody = "00000000-0000-0000-0000-000000000000";

/** What is known while a file is imported. */
export interface ImportState {
  accountId: string;
  userIds: readonly string[];
  revisionIds: Map<number, number>;
  offset: number;
  /** Between which numbers results were exported. */
  results: ExportHeader["results"];
  /** The ids of the rows so far that others belong to. */
  owners: Map<RowOwner, Set<Row[string]>>;
}

export interface ImportedLine {
  table: AccountTable;
  number: number;
  /** As in the file: `id 7`. */
  key: string;
  row: Row;
  texts: Row | undefined;
}

/** A line of an export as it is stored. */
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
    const owned = state.owners.get(table.owns.as) ?? new Set();
    state.owners.set(table.owns.as, owned.add(row[table.owns.column] ?? null));
  }
  for (const name of table.users ?? []) {
    if (row[name] !== null) row[name] = userIds[Number(row[name])] ?? nobody;
  }
  if (table.table === "audit_events" && isAboutUser(row) && typeof row.object_id === "number") {
    row.object_id = userIds[row.object_id] ?? nobody;
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
    // No key has such a digest.
    Object.assign(row, { digest: `imported:${row.id}`, revoked_at: nowMicros(), last_used_at: null });
  }
  // Texts are those of their row, whatever they name.
  const texts = table.texts &&
    line.texts && { ...line.texts, [table.texts.column]: row[table.texts.key] ?? null };
  const key = table.key.map((name) => `${name} ${line.row[name]}`).join(", ");
  return { table, number, key, row, texts };
}

/** A file may name rows of other accounts. What a row belongs to is stored before it. */
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
  // A verdict stays where its result was deleted.
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
  return new ServiceError("conflict", message);
}
