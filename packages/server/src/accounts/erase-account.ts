import { isHeldClosed } from "../platform/storage/closed-accounts-store.ts";
import { deleteInBatches, inTimedTransaction } from "../platform/storage/delete-in-batches.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { accountTables } from "./account-tables.ts";
import { deleteSomeOf, ownerIdsOf } from "./account-tables-store.ts";

/** What clients' sessions and requests left behind, and no export has. */
const otherTables = ["ors_sessions", "result_deletions"] as const;

const untilDone = new AbortController().signal;

/**
 * Deletes a batch after the other until there is nothing left, or until someone joins the account: what they store stays. Returns the
 * number of rows.
 */
export async function eraseInBatches(
  database: Database,
  accountId: string,
  deleteSome: (transaction: Database, limit: number) => Promise<number>,
): Promise<number> {
  return await deleteInBatches<true>(
    database,
    async (_, limit) => {
      const { result, heldMs } = await inTimedTransaction(database, async (transaction) =>
        (await isHeldClosed(transaction, accountId)) ? await deleteSome(transaction, limit) : 0,
      );
      return { deleted: result, heldMs, next: result === 0 ? undefined : true };
    },
    { signal: untilDone },
  );
}

/**
 * Deletes everything that an account has but its results, which are counted, its users and their keys. In small transactions: where one
 * is interrupted, another call goes on. Returns the number of rows by table.
 */
export async function eraseRows(database: Database, accountId: string): Promise<Map<string, number>> {
  const erased = new Map<string, number>();
  for (const table of accountTables.toReversed()) {
    if (table.owner.of === "users" || table.table.startsWith("evaluation_")) continue;
    let rows = 0;
    for (const ownerId of await ownerIdsOf(database, table, accountId))
      rows += await eraseInBatches(database, accountId, (transaction, limit) =>
        deleteSomeOf(transaction, table, ownerId, limit),
      );
    erased.set(table.table, rows);
  }
  for (const table of otherTables) {
    const rows = await database.transaction().execute(async (transaction) => {
      if (!(await isHeldClosed(transaction, accountId))) return 0;
      const { numDeletedRows } = await transaction
        .deleteFrom(table)
        .where("account_id", "=", accountId)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    });
    erased.set(table, rows);
  }
  return erased;
}
