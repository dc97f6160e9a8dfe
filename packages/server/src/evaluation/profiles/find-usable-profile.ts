import type { Database } from "../../storage/schema/tables.ts";
import { selectLastRevision } from "./profiles-store.ts";

/** A profile as an evaluation uses it. Its config has yet to be read by the family's schema. */
export interface UsableProfile {
  publicId: string;
  name: string;
  revision: number;
  config: unknown;
}

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
