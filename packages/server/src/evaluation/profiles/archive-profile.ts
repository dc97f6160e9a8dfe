import { nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/tables.ts";
import type { Pieces } from "../read-in-pieces.ts";
import { findOwnProfile } from "./find-own-profile.ts";
import { markArchived, type ProfileRevision, selectRevisionSizes } from "./profiles-store.ts";
import { readRevisions } from "./read-revisions.ts";

/** Archives a profile for good, and returns all its revisions. Done again it changes nothing. */
export async function archiveProfile(
  { database, reader }: { database: Database; reader: Database },
  systemRevisions: readonly ProfileRevision[],
  accountId: string,
  publicId: string,
): Promise<Pieces<ProfileRevision>> {
  await findOwnProfile(database, systemRevisions, accountId, publicId);
  await markArchived(database, accountId, publicId, nowMicros());
  const own = await selectRevisionSizes(reader, accountId, { publicId, isArchivedToo: true });
  return readRevisions(reader, accountId, own);
}
