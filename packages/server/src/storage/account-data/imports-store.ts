import { sql } from "kysely";
import { closeAccount } from "../closed-accounts-store.ts";
import { databaseNow } from "../database-clock.ts";
import { microsPerMs, nowMicros } from "../micros.ts";
import type { Database } from "../schema/tables.ts";

/** Longer than an import that lives does not write. */
export const leaseMs = 15_000;

function leaseEnd(database: Database) {
  return sql<number>`${databaseNow(database)} + ${sql.lit(leaseMs * microsPerMs)}`;
}

/** An account of its own for an import, which nobody is in and no list of accounts shows. */
export async function insertImport(transaction: Database): Promise<string> {
  const id = Bun.randomUUIDv7();
  // Names are unique, and users may choose theirs.
  await transaction
    .insertInto("accounts")
    .values({ id, name: `import ${id}`, created_at: nowMicros() })
    .execute();
  await transaction
    .insertInto("imports")
    .values({ account_id: id, lease_until: leaseEnd(transaction) })
    .execute();
  return id;
}

/** Keeps an import for longer. False: it was taken for dead. */
export async function renewImport(database: Database, accountId: string): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("imports")
    .set({ lease_until: leaseEnd(database) })
    .where("account_id", "=", accountId)
    .where("lease_until", ">=", databaseNow(database))
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

export async function hasImport(database: Database): Promise<boolean> {
  const found = await database.selectFrom("imports").select("account_id").limit(1).executeTakeFirst();
  return found !== undefined;
}

/** The accounts of imports that ended without a word. */
export async function selectDeadImports(database: Database): Promise<string[]> {
  const dead = await database
    .selectFrom("imports")
    .select("account_id")
    .where("lease_until", "<", databaseNow(database))
    .execute();
  return dead.map(({ account_id }) => account_id);
}

/** An import that will not go on: from now on it stores nothing. False: there is none. */
export async function endLeaseOfImport(database: Database, accountId: string): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("imports")
    .set({ lease_until: 0 })
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Forgets an import whose rows are deleted. */
export async function deleteImport(database: Database, accountId: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom("imports").where("account_id", "=", accountId).execute();
    await transaction.deleteFrom("accounts").where("id", "=", accountId).execute();
  });
}

/** Gives the account of an import its name. */
export async function nameImported(transaction: Database, accountId: string, name: string): Promise<void> {
  await transaction.updateTable("accounts").set({ name }).where("id", "=", accountId).execute();
  await transaction.deleteFrom("imports").where("account_id", "=", accountId).execute();
}

/** Moves users, with their keys and sessions, and events from an account without data to the one that takes its place. */
export async function moveUsers(transaction: Database, from: string, to: string): Promise<void> {
  for (const table of ["users", "audit_events"] as const)
    await transaction.updateTable(table).set({ account_id: to }).where("account_id", "=", from).execute();
  // What requests have begun there must not be stored where nobody looks.
  await closeAccount(transaction, from);
  await transaction.deleteFrom("accounts").where("id", "=", from).execute();
}
