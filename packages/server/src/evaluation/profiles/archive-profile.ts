import { nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/tables.ts";
import { findOwnProfile } from "./find-own-profile.ts";
import { markArchived, type ProfileRevision, selectRevisions } from "./profiles-store.ts";

/** Archives a profile for good, and returns all its revisions. Done again it changes nothing. */
export async function archiveProfile(
  database: Database,
  systemRevisions: readonly ProfileRevision[],
  accountId: string,
  publicId: string,
): Promise<ProfileRevision[]> {
  await findOwnProfile(database, systemRevisions, accountId, publicId);
  await markArchived(database, accountId, publicId, nowMicros());
  return await selectRevisions(database, accountId, { publicId, isArchivedToo: true });
}
