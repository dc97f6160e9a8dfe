import { nowMicros } from "../../storage/micros.ts";
import type { Pieces } from "../../storage/read-in-pieces.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { findOwnProfile } from "./find-own-profile.ts";
import { markArchived, type ProfileRevision, selectRevisionSizes } from "./profiles-store.ts";
import { readRevisions } from "./read-revisions.ts";

/**
 * All revisions of a profile, which is archived for good before the first of them is read: whoever has no room for them refuses
 * them before that, and nothing has changed. Done again it changes nothing.
 */
export async function archiveProfile(
  { database, reader }: { database: Database; reader: Database },
  systemRevisions: readonly ProfileRevision[],
  accountId: string,
  publicId: string,
): Promise<Pieces<ProfileRevision>> {
  await findOwnProfile(database, systemRevisions, accountId, publicId);
  const own = await selectRevisionSizes(reader, accountId, { publicId, isArchivedToo: true });
  const { read, ...pieces } = readRevisions(reader, accountId, own);
  return {
    ...pieces,
    async *read() {
      await markArchived(database, accountId, publicId, nowMicros());
      yield* read();
    },
  };
}
