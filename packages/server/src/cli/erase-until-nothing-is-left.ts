import { setTimeout as sleep } from "node:timers/promises";
import { eraseRows } from "../accounts/erase-account.ts";
import { selectClosed } from "../platform/storage/closed-accounts-store.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { readInstances } from "../platform/storage/settings-store.ts";
import { eraseResults } from "./erase-results.ts";
import { printNotice } from "./print-notice.ts";

/**
 * Nothing is stored for a closed account, but servers of the version before do not look: they accept keys for 5 s after their end, and
 * count a request up to 5 s after it.
 */
const lateMs = 11_000;
const pauseMs = 500;

/**
 * Erases an account that no one can access any more, pass after pass until one finds nothing: servers still store what
 * they had begun. Stops if someone has joined, for whom the account was opened again. Returns the number of rows by table.
 */
export async function eraseUntilNothingIsLeft(
  database: Database,
  accountId: string,
): Promise<Map<string, number>> {
  const erased = new Map<string, number>();
  // One that crashed is noted as well.
  const mayServe = (await readInstances(database)).length > 0;
  if (mayServe) printNotice("Servers may run, so this takes some seconds more: until they refuse the keys.");
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
