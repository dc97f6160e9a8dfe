import type { Requester } from "../../storage/reader.ts";
import type { EnvironmentServices } from "../environment-services.ts";
import { findEpisode } from "./episode.ts";
import { deleteEpisodeRows } from "./episodes-store.ts";

/** Deletes an episode with its steps. */
export async function deleteEpisode(
  services: Pick<EnvironmentServices, "store">,
  requester: Requester,
  id: string,
): Promise<void> {
  await findEpisode(services, requester, id);
  await services.store
    .writer(requester)
    .transaction()
    .execute((transaction) => deleteEpisodeRows(transaction, [id]));
}
