import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { ServiceError } from "../errors.ts";
import { nowMicros } from "./columns.ts";
import type { Database } from "./schema/tables.ts";
import { isPostgres } from "./store.ts";

const pollMs = 50;

/** From the commit on, nothing more is stored for an account, except by transactions that checked earlier: see `waitForEarlierWriters`. */
export async function closeAccount(transaction: Database, accountId: string): Promise<void> {
  await transaction
    .insertInto("closed_accounts")
    .values({ account_id: accountId, closed_at: nowMicros() })
    .onConflict((conflict) => conflict.column("account_id").doNothing())
    .execute();
}

export async function reopenAccount(database: Database, accountId: string): Promise<void> {
  await database.deleteFrom("closed_accounts").where("account_id", "=", accountId).execute();
}

/** Which of some accounts are closed. To be called in the transaction that stores for them, as a long request may have begun before. */
export async function selectClosed(
  transaction: Database,
  accountIds: Iterable<string>,
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(accountIds)];
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ account_id: string }>`
    select account_id from closed_accounts where account_id in (${sql.join(ids)})`.execute(transaction);
  return new Set(rows.map(({ account_id }) => account_id));
}

/** Whether an account is closed. If it is, no one can join it until the transaction ends. */
export async function isHeldClosed(transaction: Database, accountId: string): Promise<boolean> {
  const closed = await transaction
    .selectFrom("closed_accounts")
    .select("account_id")
    .where("account_id", "=", accountId)
    .$if(isPostgres(transaction), (query) => query.forShare())
    .executeTakeFirst();
  return closed !== undefined;
}

export async function refuseClosedAccounts(transaction: Database, accountIds: Iterable<string>) {
  const closed = await selectClosed(transaction, accountIds);
  if (closed.size === 0) return;
  throw new ServiceError("unauthenticated", "The account has been deleted. Nothing was stored.");
}

interface WriterWait {
  /** Called once if the wait takes longer than `slowMs`. */
  onSlow(): void;
  slowMs: number;
  maxMs: number;
}

/**
 * Waits for the end of transactions that may have checked before an account was closed. On PostgreSQL each holds a lock on the table
 * until then, as does a backup by `pg_dump`; on SQLite they take turns. Returns whether all of them ended in time.
 */
export async function waitForEarlierWriters(database: Database, { onSlow, slowMs, maxMs }: WriterWait) {
  if (!isPostgres(database)) return true;
  const select = async () => {
    const { rows } = await sql<{ id: string }>`
      select distinct virtualtransaction as id from pg_locks
      where relation = 'closed_accounts'::regclass and pid <> pg_backend_pid()
        and database = (select oid from pg_database where datname = current_database())`.execute(database);
    return new Set(rows.map(({ id }) => id));
  };
  const startedAtMs = performance.now();
  let isNoticed = false;
  let earlier = await select();
  while (earlier.size > 0) {
    const waitedMs = performance.now() - startedAtMs;
    if (waitedMs > maxMs) return false;
    if (waitedMs > slowMs && !isNoticed) {
      isNoticed = true;
      onSlow();
    }
    await sleep(pollMs);
    earlier = earlier.intersection(await select());
  }
  return true;
}
