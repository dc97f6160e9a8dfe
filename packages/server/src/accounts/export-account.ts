import type { Database } from "../platform/storage/schema/tables.ts";
import {
  type AccountUser,
  type Row,
  selectAccountUsers,
  selectResultNumbers,
  selectRows,
  selectTexts,
} from "./account-rows-store.ts";
import { type AccountTable, accountTables, type RowOwner } from "./account-tables.ts";
import { mapRevisions } from "./map-revisions.ts";

/** The first line of an export. */
export interface ExportHeader {
  kind: "presage account";
  /** The last migration of the database: others may have other columns. */
  schema: string;
  account: string;
  /** Rows name users by their place here. */
  users: Omit<AccountUser, "id">[];
  results: { first: number; last: number } | null;
}

/** A row; the last line is the number of rows. */
export interface ExportLine {
  table: string;
  row: Row;
  texts?: Row;
}

/** In place of a user who is not in the export. */
const goneUser = -1;

export function isAboutUser({ action }: Row): boolean {
  return String(action).startsWith("user.");
}

type OwnerIds = Map<RowOwner, (string | number)[]>;

/**
 * Everything of an account, line by line, a few rows in memory at a time. The same data makes the same lines, whatever the ids of its
 * users and revisions are. `snapshot` should see one state of the database.
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
    for (const ownerId of owners.get(table.owner.of) ?? []) {
      for await (const { row, texts } of readRows(snapshot, table, ownerId)) {
        const id = row[table.owns?.column ?? ""];
        if (id !== undefined && id !== null) owned.push(id);
        if (table.owns?.as === "revisions") numbers.revisions.set(Number(id), owned.length);
        const line: ExportLine = { table: table.table, row: toExported(table, row, numbers) };
        if (texts !== undefined) line.texts = texts;
        yield JSON.stringify(line);
        rows += 1;
      }
    }
    if (table.owns !== undefined) owners.set(table.owns.as, owned);
  }
  yield JSON.stringify({ kind: "end", rows });
}

async function* readRows(
  snapshot: Database,
  table: AccountTable,
  ownerId: string | number,
): AsyncGenerator<{ row: Row; texts: Row | undefined }, void> {
  let after: Row | undefined;
  for (;;) {
    const rows = await selectRows(snapshot, table, ownerId, after);
    const { texts: named } = table;
    const keys = rows.map((row) => row[named?.key ?? ""]);
    const texts = named && (await selectTexts(snapshot, named.table, named.column, keys));
    for (const row of rows) yield { row, texts: texts?.get(String(row[named?.key ?? ""])) };
    after = rows.at(-1);
    if (after === undefined || rows.length < table.rowsAtOnce) return;
  }
}

function toExported(
  { table, users = [], revisions = [], without = [] }: AccountTable,
  stored: Row,
  numbers: { users: ReadonlyMap<string, number>; revisions: ReadonlyMap<number, number> },
): Row {
  const { account_id: _, ...row } = table === "runs" ? asPaused(stored) : stored;
  for (const column of without) delete row[column];
  for (const column of users) {
    if (row[column] !== null) row[column] = numbers.users.get(String(row[column])) ?? goneUser;
  }
  // An event about a user names them by their place too.
  if (table === "audit_events" && isAboutUser(row)) {
    row.object_id = numbers.users.get(String(row.object_id)) ?? row.object_id ?? null;
  }
  for (const column of revisions) {
    if (row[column] !== null) row[column] = numbers.revisions.get(Number(row[column])) ?? null;
  }
  if (table === "runs") row.target = mapRevisions(String(row.target), numbers.revisions);
  return row;
}

/** Only one of two servers may continue a run: the one on which it is resumed. */
function asPaused(run: Row): Row {
  if (run.target_kind === "external") return run;
  const isWaiting = run.status === "queued" || run.status === "running" || run.status === "paused";
  if (!isWaiting) return { ...run, lease_until: 0 };
  const paused = { status: "paused", paused_by: "user", status_reason: "It was exported before its end." };
  return { ...run, ...paused, lease_until: 0 };
}
