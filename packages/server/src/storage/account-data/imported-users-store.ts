import { ServiceError } from "../../errors.ts";
import { nowMicros } from "../micros.ts";
import type { Database } from "../schema/tables.ts";
import type { AccountUser } from "./account-rows-store.ts";

export async function findAccountId(transaction: Database, name: string): Promise<string | undefined> {
  const query = transaction.selectFrom("accounts").select("id").where("name", "=", name);
  return (await query.executeTakeFirst())?.id;
}

export async function addAccount(transaction: Database, name: string): Promise<string> {
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

export type ImportedUser = Omit<AccountUser, "id">;

/** The ids that users have here, in their order, or will have: those who are not known yet get a new one. */
export async function findUserIds(
  transaction: Database,
  accountId: string | undefined,
  users: readonly ImportedUser[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const user of users) {
    const known = await selectKnown(transaction, user);
    if (known !== undefined && known.account_id !== accountId)
      throw new ServiceError(
        "conflict",
        `The user ${user.email ?? user.name ?? user.oidc_subject} has another account here. Import into a database that does not know them.`,
      );
    ids.push(known?.id ?? Bun.randomUUIDv7());
  }
  return ids;
}

/** Adds the users who are not known yet to the account; of the others, the earlier date counts. */
export async function addUsers(
  transaction: Database,
  accountId: string,
  users: readonly ImportedUser[],
  ids: readonly string[],
): Promise<void> {
  for (const [index, user] of users.entries()) {
    const id = ids[index] ?? "";
    const known = await selectKnown(transaction, user);
    if (known === undefined) {
      await transaction
        .insertInto("users")
        .values({ id, account_id: accountId, ...user })
        .execute();
    } else if (known.id !== id) {
      const name = user.email ?? user.name ?? user.oidc_subject;
      throw new ServiceError("conflict", `${name} was added during the import. Import again.`);
    } else if (user.created_at < known.created_at) {
      // A new server's owner is younger than the imported one.
      const { created_at } = user;
      await transaction.updateTable("users").set({ created_at }).where("id", "=", id).execute();
    }
  }
}

async function selectKnown(transaction: Database, { oidc_issuer, oidc_subject }: ImportedUser) {
  return await transaction
    .selectFrom("users")
    .select(["id", "account_id", "created_at"])
    .where("oidc_issuer", "=", oidc_issuer)
    .where("oidc_subject", "=", oidc_subject)
    .executeTakeFirst();
}
