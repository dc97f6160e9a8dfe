import { eraseInBatches } from "../accounts/erase-account.ts";
import { isHeldClosed } from "../platform/storage/closed-accounts-store.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import {
  deleteCountsOf,
  deleteResultRows,
  selectSomeIdsOf,
} from "../results/delete/deleted-results-store.ts";

/** Deletes all results of a closed account, also those of runs, and what is counted of them. Returns how many there were. */
export async function eraseResults(database: Database, accountId: string): Promise<number> {
  const erased = await eraseInBatches(database, accountId, async (transaction, limit) =>
    deleteResultRows(transaction, await selectSomeIdsOf(transaction, accountId, limit)),
  );
  await database.transaction().execute(async (transaction) => {
    if (await isHeldClosed(transaction, accountId)) await deleteCountsOf(transaction, accountId);
  });
  return erased;
}
