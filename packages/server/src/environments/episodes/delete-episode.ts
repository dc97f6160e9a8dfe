import type { Changer } from "../../platform/actor.ts";
import { recordChange } from "../../platform/record-change.ts";
import type { EnvironmentServices } from "../environment-services.ts";
import { noSuchEpisode } from "./episode.ts";
import { deleteEpisodeRows, selectEpisode } from "./episodes-store.ts";

/** Deletes an episode with its steps. */
export async function deleteEpisode(
  services: Pick<EnvironmentServices, "store" | "knownEpisodes">,
  requester: Changer,
  id: string,
): Promise<void> {
  if ((await selectEpisode(services.store.database, requester.accountId, id)) === undefined)
    throw noSuchEpisode();
  await services.store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      // Somebody else may have deleted it since.
      if ((await deleteEpisodeRows(transaction, [id])) === 0) throw noSuchEpisode();
      await recordChange(transaction, requester, { action: "episode.delete", objectId: id });
    });
  services.knownEpisodes.forget(id);
}
