import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../errors.ts";
import type { Database } from "../schema/tables.ts";
import { readInstances } from "../settings-store.ts";
import { clearImport, waitForOtherImports } from "./clear-imports.ts";
import { eraseRows } from "./erase-rows.ts";
import { addUsers, findAccountId, findUserIds } from "./imported-users-store.ts";
import { insertImport, leaseMs, moveUsers, nameImported, renewImport } from "./imports-store.ts";
import {
  firstRows,
  type ImportOptions,
  type OpenedFile,
  openPlace,
  refuseUsedAccount,
  rowsAtOnce,
  storeLines,
  storeRows,
} from "./store-lines.ts";
import type { ImportedLine, Place } from "./to-stored.ts";

const renewEveryMs = leaseMs / 4;
/** How long a transaction should take, for which others wait. */
const targetMs = 10;
/** Longer than other processes pause between two attempts at the file. */
const minPauseMs = 14;

/**
 * Stores the rows of a file in small transactions. They belong to an account that nobody is in; at the end, one transaction puts it in
 * the place of the one without data. What an import leaves that is killed is deleted by the next one, or by a server.
 */
export async function importBesideWrites(
  database: Database,
  file: OpenedFile,
  options: ImportOptions,
): Promise<number> {
  await waitForOtherImports(database, options.eraseResults);
  const place = await database.transaction().execute(async (transaction) => {
    const target = await findAccountId(transaction, file.accountName);
    if (target !== undefined) await refuseUsedAccount(transaction, target, file);
    const userIds = await findUserIds(transaction, target, file.header.users);
    return await openPlace(transaction, await insertImport(transaction), userIds, file, options);
  });
  const { accountId } = place;
  // Users are added at the end, and their keys with them.
  const keys: ImportedLine[] = [];
  const store = await createSmallTransactions(database, accountId);
  const renewing = setInterval(() => void renewImport(database, accountId).catch(() => {}), renewEveryMs);
  try {
    const rows = await storeLines(file, options, {
      place,
      store,
      defer(line) {
        const isOfUser = line.table.owner.of === "users";
        if (isOfUser) keys.push(line);
        return isOfUser;
      },
    });
    const replaced = await database
      .transaction()
      .execute((transaction) => takeItsPlace(transaction, file, place, keys, options));
    // The import is complete without it.
    if (replaced !== undefined) await eraseEmptied(database, replaced, options).catch(() => {});
    return rows;
  } catch (error) {
    // What cannot be deleted now is deleted by the next import, or by a server.
    await clearImport(database, accountId, options.eraseResults).catch(() => {});
    throw error;
  } finally {
    clearInterval(renewing);
  }
}

/** Makes what was imported the account of the name. Returns the id of the one without data that had it. */
async function takeItsPlace(
  transaction: Database,
  file: OpenedFile,
  { accountId, userIds }: Place,
  keys: readonly ImportedLine[],
  options: ImportOptions,
): Promise<string | undefined> {
  if (!(await renewImport(transaction, accountId))) throw takenForDead();
  const target = await findAccountId(transaction, file.accountName);
  if (target !== undefined) {
    // Somebody may have stored something there meanwhile.
    await refuseUsedAccount(transaction, target, file);
    await moveUsers(transaction, target, accountId);
  }
  await nameImported(transaction, accountId, file.accountName);
  await addUsers(transaction, accountId, file.header.users, userIds);
  await storeRows(transaction, keys, options);
  return target;
}

/** Where servers run, with pauses in which they write. */
async function createSmallTransactions(database: Database, accountId: string) {
  const mayServe = (await readInstances(database)).length > 0;
  let rows = firstRows;
  let wroteAtMs = Number.NEGATIVE_INFINITY;
  let pauseMs = 0;
  return async (work: (transaction: Database) => Promise<void>): Promise<number> => {
    const waitMs = wroteAtMs + pauseMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    let startedAtMs = 0;
    await database.transaction().execute(async (transaction) => {
      startedAtMs = performance.now();
      if (!(await renewImport(transaction, accountId))) throw takenForDead();
      await work(transaction);
    });
    wroteAtMs = performance.now();
    const heldMs = wroteAtMs - startedAtMs;
    pauseMs = mayServe ? Math.max(minPauseMs, heldMs) : 0;
    const growth = Math.min(Math.max(targetMs / heldMs, 0.5), 1.5);
    rows = mayServe ? Math.min(Math.max(Math.floor(rows * growth), 1), rowsAtOnce) : rowsAtOnce;
    return rows;
  };
}

/** What is left of an account without data: sessions, deletions that ended, counts of nothing. */
async function eraseEmptied(
  database: Database,
  accountId: string,
  { eraseResults }: ImportOptions,
): Promise<void> {
  await eraseResults(database, accountId);
  await eraseRows(database, accountId);
}

function takenForDead(): ServiceError {
  return new ServiceError(
    "conflict",
    `The import stood still for more than ${leaseMs / 1_000} s, and what it had stored was deleted. Import again.`,
  );
}
