import { sql } from "kysely";
import { isHeldClosed } from "../platform/storage/closed-accounts-store.ts";
import { deleteInBatches, inTimedTransaction } from "../platform/storage/delete-in-batches.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { type AccountTable, accountTables } from "./account-tables.ts";

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

/** The ids of the rows that those of a table belong to, also of those that are being deleted. */
async function ownerIdsOf(
  database: Database,
  { owner }: AccountTable,
  accountId: string,
): Promise<(string | number)[]> {
  if (owner.of === "account") return [accountId];
  const parent = accountTables.find(({ owns }) => owns?.as === owner.of);
  if (parent?.owns === undefined) throw new Error(`Nothing owns rows as ${owner.of}`);
  const { rows } = await sql<{ id: string | number }>`
    select ${sql.ref(parent.owns.column)} as id from ${sql.table(parent.table)}
    where account_id = ${accountId}`.execute(database);
  return rows.map(({ id }) => id);
}

async function deleteSomeOf(
  transaction: Database,
  { table, key, owner, texts }: AccountTable,
  ownerId: string | number,
  limit: number,
): Promise<number> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const isOwned = sql`${sql.ref(owner.column)} = ${ownerId}`;
  // In no order, which would have to be found for all of the owner's rows.
  const isSome = sql`(${columns}) in (select ${columns} from ${sql.table(table)} where ${isOwned} limit ${limit})`;
  // SQLite would look through all of the owner's rows for a few ids, which are unique without the owner.
  const which = key.join() === "id" ? isSome : sql`${isOwned} and ${isSome}`;
  const deletion = sql`delete from ${sql.table(table)} where ${which}`;
  if (texts === undefined) return Number((await deletion.execute(transaction)).numAffectedRows ?? 0n);
  const { rows } = await sql<{ key: string | number }>`
    ${deletion} returning ${sql.ref(texts.key)} as key`.execute(transaction);
  if (rows.length === 0) return 0;
  const keys = sql.join(rows.map((row) => row.key));
  await sql`delete from ${sql.table(texts.table)} where ${sql.ref(texts.column)} in (${keys})`.execute(
    transaction,
  );
  return rows.length;
}
