import { doOnce } from "../../platform/storage/do-once.ts";
import type { Once } from "../../platform/storage/once.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { noSuchProfile } from "./find-profile.ts";
import { type ProfileRevision, selectRevisionsByKeys } from "./profiles-store.ts";

/** Makes a revision of a profile, or finds the one that the same request made earlier, as it was then. */
export async function changeProfileOnce(
  database: Database,
  accountId: string,
  once: Once | undefined,
  change: (transaction: Database) => Promise<ProfileRevision>,
): Promise<ProfileRevision> {
  return await doOnce(database, once, {
    work: change,
    toReceipt: ({ public_id, revision }) => ({ publicId: public_id, revision }),
    async recall({ publicId, revision }) {
      const key = { public_id: publicId, revision };
      const [made] = await selectRevisionsByKeys(database, accountId, [key]);
      if (made === undefined) throw noSuchProfile();
      return { ...made, archived_at: null };
    },
  });
}
