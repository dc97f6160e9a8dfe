import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../errors.ts";
import type { Database } from "../schema/tables.ts";
import { eraseRows } from "./erase-rows.ts";
import { deleteImport, endLeaseOfImport, hasImport, leaseMs, selectDeadImports } from "./imports-store.ts";

/** Deletes the results of an account, and what is counted of them. */
export type EraseResults = (database: Database, accountId: string) => Promise<unknown>;

const pollMs = 200;
const marginMs = 2_000;

/**
 * Deletes what an import has stored, unless it is complete, or cleared already. Where a call is interrupted, the next one finds the
 * import dead and goes on.
 */
export async function clearImport(
  database: Database,
  accountId: string,
  eraseResults: EraseResults,
): Promise<void> {
  if (!(await endLeaseOfImport(database, accountId))) return;
  await eraseResults(database, accountId);
  await eraseRows(database, accountId);
  await deleteImport(database, accountId);
}

/** Deletes what imports have left that ended in the middle. */
export async function clearDeadImports(database: Database, eraseResults: EraseResults): Promise<void> {
  for (const accountId of await selectDeadImports(database))
    await clearImport(database, accountId, eraseResults);
}

/** One import at a time: another one, or what is left of it, may have the same ids. Waits until it is known whether that lives. */
export async function waitForOtherImports(database: Database, eraseResults: EraseResults): Promise<void> {
  const untilMs = performance.now() + leaseMs + marginMs;
  for (;;) {
    await clearDeadImports(database, eraseResults);
    if (!(await hasImport(database))) return;
    if (performance.now() > untilMs)
      throw new ServiceError("conflict", "Another import is under way. Import when it has ended.");
    await sleep(pollMs);
  }
}
