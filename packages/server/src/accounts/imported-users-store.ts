import { ServiceError } from "../platform/errors.ts";
import { nowMicros } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { AccountUser } from "./account-rows-store.ts";

/** The account with a name; a new one if there is none. */
export async function findOrAddAccount(transaction: Database, name: string): Promise<string> {
  const found = await transaction
    .selectFrom("accounts")
    .select("id")
    .where("name", "=", name)
    .executeTakeFirst();
  if (found !== undefined) return found.id;
  const id = Bun.randomUUIDv7();
  await transaction.insertInto("accounts").values({ id, name, created_at: nowMicros() }).execute();
  return id;
}

/** Whether one of some users is known here. They have their account, and no other one. */
export async function isAnyKnown(
  transaction: Database,
  users: readonly Pick<AccountUser, "oidc_issuer" | "oidc_subject">[],
): Promise<boolean> {
  for (const { oidc_issuer, oidc_subject } of users) {
    const known = await transaction
      .selectFrom("users")
      .select("id")
      .where("oidc_issuer", "=", oidc_issuer)
      .where("oidc_subject", "=", oidc_subject)
      .executeTakeFirst();
    if (known !== undefined) return true;
  }
  return false;
}

/** The ids of users here, in their order. Those who are not known yet are added to the account; of the others, the earlier date counts. */
export async function findOrAddUsers(
  transaction: Database,
  accountId: string,
  users: readonly Omit<AccountUser, "id">[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const user of users) {
    const known = await transaction
      .selectFrom("users")
      .select(["id", "account_id", "created_at"])
      .where("oidc_issuer", "=", user.oidc_issuer)
      .where("oidc_subject", "=", user.oidc_subject)
      .executeTakeFirst();
    if (known !== undefined && known.account_id !== accountId)
      throw new ServiceError(
        "conflict",
        `The user ${user.email ?? user.name ?? user.oidc_subject} has another account here. Import into a database that does not know them.`,
      );
    const id = known?.id ?? Bun.randomUUIDv7();
    if (known === undefined) {
      const row = { id, account_id: accountId, ...user };
      await transaction.insertInto("users").values(row).execute();
    } else if (user.created_at < known.created_at) {
      // A new server's owner is younger than the imported one.
      const { created_at } = user;
      await transaction.updateTable("users").set({ created_at }).where("id", "=", id).execute();
    }
    ids.push(id);
  }
  return ids;
}
