import type { Caller } from "../http/caller.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { selectAccount } from "./users-store.ts";

/** Replicas are the operator's, who is in this account. */
const operatorsAccount = "default";

export async function isOperator(database: Database, { accountId }: Caller): Promise<boolean> {
  return (await selectAccount(database, accountId))?.name === operatorsAccount;
}
