import { setTimeout as sleep } from "node:timers/promises";
import { countRowsOf, eraseInBatches, eraseRows } from "../../accounts/account-tables-store.ts";
import { markSignInTokensUsed } from "../../accounts/sessions-store.ts";
import { endUserIn, getUser, ownerSubject } from "../../accounts/users.ts";
import {
  countOtherUsers,
  countRowsOfUser,
  deleteUserRows,
  hasOtherOwner,
  localIssuer,
  lockAccount,
  lockUsers,
  selectUser,
  type User,
} from "../../accounts/users-store.ts";
import { sessionRules } from "../../app/compose-accounts.ts";
import type { Config } from "../../config/config.ts";
import { recordChange } from "../../platform/audit.ts";
import {
  closeAccount,
  isHeldClosed,
  reopenAccount,
  selectClosed,
  waitForEarlierWriters,
} from "../../platform/storage/closed-accounts-store.ts";
import { nowMicros } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { readInstances } from "../../platform/storage/settings-store.ts";
import { commandName, countOf, printable } from "../../platform/words.ts";
import { cancelAllChecks } from "../../reality/replays/replays-store.ts";
import {
  deleteCountsOf,
  deleteResultRows,
  selectSomeIdsOf,
} from "../../results/delete/deleted-results-store.ts";
import { discardAllRuns } from "../../runs/runs-store.ts";
import { CommandError, changerFor, printNotice } from "../command.ts";
import { withDatabase } from "../connect.ts";

/**
 * Deletes a user, and the account's data if no one else is in it. An interrupted command can be repeated.
 */
export async function eraseUser(config: Config, idOrEmail: string, { yes = false }: { yes?: boolean }) {
  await withDatabase(config, async ({ database }) => {
    const user = await getUser(database, idOrEmail);
    const others = await countOtherUsers(database, user);
    const isAlone = others === 0;
    refuseMadeByPresage(user);
    const { issuer } = sessionRules(config.identity);
    if (!isAlone) await refuseNeeded(database, user, issuer);
    const counted = await countRowsOfUser(database, user.id);
    if (isAlone) {
      for (const [table, rows] of await countRowsOf(database, user.account_id)) counted.set(table, rows);
    }
    print(`${printable(user.email ?? user.name ?? user.id)}: what is to be deleted`, counted);
    const whose = isAlone
      ? "No one else is in the account, which is deleted with the user."
      : `The account's data stays: it has ${countOf(others, "other user")}.`;
    printNotice(whose, process.stdout);
    if (!yes) {
      printNotice("Nothing was deleted. Repeat the command with --yes to delete this.", process.stdout);
      return;
    }
    const erased = isAlone
      ? await eraseWithAccount(database, user)
      : await eraseOneOf(database, user, issuer);
    print("Deleted", erased);
    if (config.identity.oidc !== undefined)
      printNotice(`A user who can still sign in at ${issuer} is created again. Block them there.`);
  });
}

/** Deletes the data of an account with no other users. Access ends first; the user is deleted last. */
async function eraseWithAccount(database: Database, user: User): Promise<Map<string, number>> {
  await database.transaction().execute(async (transaction) => {
    await lockAccount(transaction, user.account_id);
    await refuseOthers(transaction, user, "Nothing was deleted.");
    await endUserIn(transaction, changerFor(user), user.id);
    await discardAllRuns(transaction, user.account_id);
    await cancelAllChecks(transaction, user.account_id);
    await closeAccount(transaction, user.account_id);
  });
  await refuseEarlierWriters(database);
  const erased = await eraseUntilNothingIsLeft(database, user.account_id);
  const own = await deleteWithAccount(database, user).catch(async (error: unknown) => {
    // A server of the previous version lets people join a closed account without reopening it.
    if (error instanceof CommandError) await reopenAccount(database, user.account_id);
    throw error;
  });
  return new Map([...erased, ...own]);
}

/** A transaction that began earlier may still store something. Most take milliseconds. */
async function refuseEarlierWriters(database: Database): Promise<void> {
  const isOver = await waitForEarlierWriters(database, {
    onSlow: () => printNotice("Waiting for earlier transactions, such as a backup by pg_dump."),
    slowMs: 5_000,
    maxMs: 300_000,
  });
  if (isOver) return;
  throw new CommandError(
    "An earlier transaction, such as a backup by pg_dump, has not ended within five minutes. Access has ended, and nothing was deleted. Run the command again when it is over.",
  );
}

async function deleteWithAccount(database: Database, user: User): Promise<Map<string, number>> {
  return await database.transaction().execute(async (transaction) => {
    await lockAccount(transaction, user.account_id);
    const what = "The account's data has been deleted, but the user has not.";
    await refuseOthers(transaction, user, what);
    // Someone may have joined, stored something and left again.
    if (!(await isHeldClosed(transaction, user.account_id))) throw somebodyJoined(what);
    return await deleteUserRows(transaction, user, true);
  });
}

/** Anyone who has joined since the count would lose their data as well. */
async function refuseOthers(transaction: Database, user: User, what: string): Promise<void> {
  if ((await countOtherUsers(transaction, user)) > 0) throw somebodyJoined(what);
}

function somebodyJoined(what: string): CommandError {
  return new CommandError(`Someone has joined the account meanwhile. ${what} Run the command again.`);
}

/** Deletes a user from an account that has other users; the account's data stays. */
async function eraseOneOf(database: Database, user: User, issuer: string): Promise<Map<string, number>> {
  return await database.transaction().execute(async (transaction) => {
    await lockAccount(transaction, user.account_id);
    if ((await countOtherUsers(transaction, user)) === 0)
      throw new CommandError(
        "The others have left the account meanwhile. Nothing was deleted. Run the command again.",
      );
    await refuseNeeded(transaction, user, issuer);
    // An earlier command found no one else and was interrupted; the others joined through a server of the previous version.
    await reopenAccount(transaction, user.account_id);
    // Links are locked before the user, because signing in with a link locks in this order.
    await markSignInTokensUsed(transaction, user.id, nowMicros());
    await lockUsers(transaction, [user.id]);
    await recordChange(transaction, changerFor(user), "user.erase", user.id);
    return await deleteUserRows(transaction, user, false);
  });
}

function refuseMadeByPresage(user: User): void {
  if (user.oidc_issuer === localIssuer && user.oidc_subject === ownerSubject)
    throw new CommandError(
      "The owner is created by Presage itself and is not a person. Delete results, runs and datasets one by one.",
    );
}

/** Without an owner, no one could manage the account. The role may have changed since the user was found. */
async function refuseNeeded(database: Database, { id, account_id }: User, issuer: string): Promise<void> {
  const user = await selectUser(database, id);
  if (user?.role !== "owner" || (await hasOtherOwner(database, account_id, id, issuer))) return;
  throw new CommandError(
    `No one else who can sign in is an owner of this account. Make someone else an owner first, with ${commandName} users role.`,
  );
}

function print(heading: string, rows: ReadonlyMap<string, number>): void {
  const lines = [...rows].filter(([, count]) => count > 0).map(([table, count]) => `  ${table}: ${count}`);
  process.stdout.write([`${heading}:`, ...(lines.length === 0 ? ["  nothing"] : lines), ""].join("\n"));
}

/**
 * Nothing is stored for a closed account, but servers of the previous version do not check: they accept keys for 5 s after they end,
 * and count a request up to 5 s after it.
 */
const lateMs = 11_000;
const pauseMs = 500;

/**
 * Erases an account that no one can access any more, pass after pass until a pass finds nothing: servers still store what they had
 * begun. Stops if someone has joined, which reopens the account. Returns the number of rows by table.
 */
export async function eraseUntilNothingIsLeft(
  database: Database,
  accountId: string,
): Promise<Map<string, number>> {
  const erased = new Map<string, number>();
  // Includes servers that crashed, which are still noted.
  const mayServe = (await readInstances(database)).length > 0;
  if (mayServe)
    printNotice("Servers may be running, so this takes a few seconds more, until they refuse the keys.");
  const settledAtMs = performance.now() + (mayServe ? lateMs : 0);
  for (;;) {
    const isSettled = performance.now() >= settledAtMs;
    const found = await eraseOnce(database, accountId);
    for (const [table, rows] of found) erased.set(table, (erased.get(table) ?? 0) + rows);
    if ((await selectClosed(database, [accountId])).size === 0) return erased;
    if (found.values().some((rows) => rows > 0)) continue;
    if (isSettled) return erased;
    await sleep(pauseMs);
  }
}

async function eraseOnce(database: Database, accountId: string): Promise<Map<string, number>> {
  const results = await eraseResults(database, accountId);
  return new Map([["evaluation_results", results], ...(await eraseRows(database, accountId))]);
}

/** Deletes all results of a closed account, including those of runs, and the figures counted from them. Returns the number of results. */
export async function eraseResults(database: Database, accountId: string): Promise<number> {
  const erased = await eraseInBatches(database, accountId, async (transaction, limit) =>
    deleteResultRows(transaction, await selectSomeIdsOf(transaction, accountId, limit)),
  );
  await database.transaction().execute(async (transaction) => {
    if (await isHeldClosed(transaction, accountId)) await deleteCountsOf(transaction, accountId);
  });
  return erased;
}
