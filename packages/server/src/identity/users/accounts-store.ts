import type { AccountsTable } from "../../storage/schema/identity.ts";
import type { Database } from "../../storage/schema/tables.ts";

export type Account = Pick<AccountsTable, "id" | "name">;

export async function selectAccount(database: Database, accountId: string): Promise<Account | undefined> {
  return await database
    .selectFrom("accounts")
    .select(["id", "name"])
    .where("id", "=", accountId)
    .executeTakeFirst();
}
