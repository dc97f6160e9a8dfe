import type { Changer } from "../platform/actor.ts";
import { updateAuditDetail } from "../platform/audit-events-store.ts";
import { countOf } from "../platform/count-of.ts";
import { ServiceError } from "../platform/errors.ts";
import { recordChange } from "../platform/record-change.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { EnvironmentServices } from "./environment-services.ts";
import { deleteEnvironmentRows, lockEnvironment } from "./environments-store.ts";
import { countEpisodesOf, deleteEpisodeRows, selectEpisodeIds } from "./episodes/episodes-store.ts";
import { findEnvironment, noSuchEnvironment, refuseBuiltIn } from "./find-environment.ts";

/** What one transaction deletes: others write meanwhile. */
const episodesAtOnce = 20;
/** How often episodes that began meanwhile are deleted as well. */
const maxRounds = 10;

/** Deletes an environment with its tasks, and its episodes if wanted. If it is cut short, it can be repeated. */
export async function deleteEnvironment(
  { store, knownEpisodes }: Pick<EnvironmentServices, "store" | "knownEpisodes">,
  requester: Changer,
  { name, withEpisodes }: { name: string; withEpisodes: boolean },
): Promise<void> {
  refuseBuiltIn(name);
  const { accountId } = requester;
  const { id } = await findEnvironment({ store }, requester, name);
  const writer = store.writer(requester);
  let deleted = 0;
  let eventId: string | undefined;

  /** One event for all episodes, also if the request is cut short before the environment is gone. */
  async function deleteSome(transaction: Database, ids: readonly string[]): Promise<void> {
    await deleteEpisodeRows(transaction, ids);
    deleted += ids.length;
    const detail = { environment: name, deleted };
    if (eventId !== undefined) await updateAuditDetail(transaction, eventId, detail);
    else
      eventId = await recordChange(transaction, requester, {
        action: "episode.delete",
        objectId: "many",
        detail,
      });
  }

  /** Returns false if episodes were started meanwhile that are to be deleted first. */
  async function deleteRest(transaction: Database): Promise<boolean> {
    const locked = await lockEnvironment(transaction, accountId, name, "forUpdate");
    if (locked?.id !== id) throw noSuchEnvironment();
    const episodes = await countEpisodesOf(transaction, accountId, id);
    if (episodes > 0 && withEpisodes) return false;
    if (episodes > 0)
      throw new ServiceError(
        "conflict",
        `${countOf(episodes, "episode")} of the environment would lose what they are about. Delete them first, or send with_episodes=true.`,
      );
    await deleteEnvironmentRows(transaction, id);
    await recordChange(transaction, requester, {
      action: "environment.delete",
      objectId: id,
      detail: { name, with_episodes: withEpisodes },
    });
    return true;
  }

  for (let round = 0; round < maxRounds; round += 1) {
    while (withEpisodes) {
      const ids = await selectEpisodeIds(store.database, accountId, id, episodesAtOnce);
      if (ids.length === 0) break;
      await writer.transaction().execute((transaction) => deleteSome(transaction, ids));
      for (const episode of ids) knownEpisodes.forget(episode);
    }
    if (await writer.transaction().execute(deleteRest)) return;
  }
  throw new ServiceError(
    "conflict",
    "Episodes keep beginning in the environment. Stop their clients, then delete it.",
  );
}
