import { ServiceError } from "../../errors.ts";
import { nowMicros } from "../micros.ts";
import type { Database } from "../schema/tables.ts";
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

/** The ids of users here, in their order. Those who are not known yet are added to the account. */
export async function findOrAddUsers(
  transaction: Database,
  accountId: string,
  users: readonly Omit<AccountUser, "id">[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const user of users) {
    const known = await transaction
      .selectFrom("users")
      .select(["id", "account_id"])
      .where("oidc_issuer", "=", user.oidc_issuer)
      .where("oidc_subject", "=", user.oidc_subject)
      .executeTakeFirst();
    if (known !== undefined && known.account_id !== accountId)
      throw new ServiceError(
        "conflict",
        `The user ${user.email ?? user.name ?? user.oidc_subject} has another account here.`,
      );
    const id = known?.id ?? Bun.randomUUIDv7();
    if (known === undefined) {
      const row = { id, account_id: accountId, ...user, created_at: nowMicros() };
      await transaction.insertInto("users").values(row).execute();
    }
    ids.push(id);
  }
  return ids;
}
