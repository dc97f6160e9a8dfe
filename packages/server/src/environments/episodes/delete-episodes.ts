import { type Changer, recordChange } from "../../platform/audit.ts";
import { type DeletedBatch, inTimedTransaction } from "../../platform/storage/batches.ts";
import type { Micros } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Store } from "../../platform/storage/store.ts";
import { expiredBefore, noSuchEpisode } from "./episode.ts";
import {
  deleteEpisodeRows,
  type EpisodePosition,
  selectEpisode,
  selectOldEpisodes,
} from "./episodes-store.ts";

/** Deletes an episode with its steps. */
export async function deleteEpisode(
  services: { store: Store; knownEpisodes: { forget(id: string): void } },
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

const start: EpisodePosition = { createdAt: Number.MIN_SAFE_INTEGER, id: "" };
/** To look at episodes that stay takes microseconds each. */
const candidatesAtOnce = 200;

/**
 * Deletes some episodes of an account that nobody has used since a time, but for those that a dataset was made from. Open ones have
 * expired by then. `limit` is in steps: one episode has more than another.
 */
export async function deleteOldEpisodes(
  database: Database,
  { accountId, before }: { accountId: string; before: Micros },
  place: EpisodePosition | undefined,
  limit: number,
): Promise<DeletedBatch<EpisodePosition>> {
  const unused = Math.min(before, expiredBefore());
  const candidates = await selectOldEpisodes(database, accountId, unused, place ?? start, candidatesAtOnce);
  let steps = 0;
  const wanted: EpisodePosition[] = [];
  for (const episode of candidates) {
    if (episode.isInDataset) continue;
    steps += episode.steps + 1;
    if (wanted.length > 0 && steps > limit) break;
    wanted.push(episode);
  }
  const deletable = candidates.filter((episode) => !episode.isInDataset);
  const isCut = wanted.length < deletable.length;
  const last = isCut ? wanted.at(-1) : candidates.at(-1);
  const next = isCut || candidates.length === candidatesAtOnce ? last : undefined;
  if (wanted.length === 0) return { deleted: 0, heldMs: 0, next };
  const { heldMs } = await inTimedTransaction(database, (transaction) =>
    deleteEpisodeRows(
      transaction,
      wanted.map(({ id }) => id),
    ),
  );
  return { deleted: wanted.length, size: Math.min(steps, limit), heldMs, next };
}
