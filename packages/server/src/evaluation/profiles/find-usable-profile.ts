import type { Database } from "../../storage/schema/tables.ts";
import type { UsableProfile } from "../evaluate/resolve-evaluators.ts";
import { selectLastRevision } from "./profiles-store.ts";

/** The last revision of an account's profile, unless there is none or it is archived. */
export async function findUsableProfile(
  database: Database,
  accountId: string,
  family: string,
  name: string,
): Promise<UsableProfile | undefined> {
  const last = await selectLastRevision(database, accountId, family, name);
  if (last === undefined) return undefined;
  const { public_id: publicId, revision, config } = last;
  return { publicId, name, revision, config: JSON.parse(config) };
}
