import type { Changer } from "../../platform/actor.ts";
import { recordChange } from "../../platform/record-change.ts";
import { nowMicros } from "../../platform/storage/micros.ts";
import type { Pieces } from "../../platform/storage/read-in-pieces.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import { findOwnProfile } from "./find-profile.ts";
import { readRevisions } from "./list-profiles.ts";
import { markArchived, type ProfileRevision, selectRevisionSizes } from "./profiles-store.ts";

/**
 * All revisions of a profile, which is archived for good when the first of them is read: if they are too large for the response, the
 * caller refuses before that, and nothing has changed. Repeating it changes nothing.
 */
export async function archiveProfile(
  services: Pick<EvaluationServices, "store" | "builtInProfiles">,
  requester: Changer,
  publicId: string,
): Promise<Pieces<ProfileRevision>> {
  const { accountId } = requester;
  const reader = services.store.briefReader(requester);
  await findOwnProfile(services, accountId, publicId);
  const own = await selectRevisionSizes(reader, accountId, { publicId, isArchivedToo: true });
  const { read, ...pieces } = readRevisions(reader, accountId, own);
  return {
    ...pieces,
    async *read() {
      await services.store
        .writer(requester)
        .transaction()
        .execute(async (transaction) => {
          if (await markArchived(transaction, accountId, publicId, nowMicros()))
            await recordChange(transaction, requester, {
              action: "evaluator_profile.archive",
              objectId: publicId,
            });
        });
      yield* read();
    },
  };
}
