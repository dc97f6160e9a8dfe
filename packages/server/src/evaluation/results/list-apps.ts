import type { Database } from "../../storage/tables.ts";
import { selectApps } from "./apps-store.ts";

/** The names of all apps that an account has results of, in the order of their characters on every database. */
export async function listApps(database: Database, accountId: string): Promise<string[]> {
  return (await selectApps(database, accountId)).sort();
}
