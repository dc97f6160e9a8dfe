import { forgetOldRequests } from "../../platform/storage/idempotent-requests-store.ts";
import { isPostgres } from "../../platform/storage/is-postgres.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import {
  type Delivery,
  insertSession,
  markDelivered,
  markUsed,
  type NewSession,
  type SessionStart,
  startSession,
  type Uses,
} from "../ors/ors-sessions-store.ts";
import { insertEpisodes, type NewEpisodeRow } from "./new-episodes-store.ts";
import { insertSteps, type NewStep } from "./new-steps-store.ts";

/** A change in an episode or its session. Plain data: it crosses threads. */
export type EpisodeWrite =
  | { step: NewStep }
  | { episode: NewEpisodeRow }
  | { session: NewSession }
  | { start: SessionStart }
  | { delivery: Delivery }
  | { uses: Uses };

/** Makes changes in one transaction, which many callers share. Says of each whether it was made: others may have been first. */
export async function applyWrites(database: Database, writes: readonly EpisodeWrite[]): Promise<boolean[]> {
  const steps = writes.flatMap((write) => ("step" in write ? [write.step] : []));
  const deliveries = writes.flatMap((write) => ("delivery" in write ? [write.delivery] : []));
  // One statement: it needs no transaction.
  if (steps.length === writes.length && isPostgres(database)) {
    const stored = await insertSteps(database, steps);
    return steps.map((step) => stored.has(step));
  }
  const episodes = writes.flatMap((write) => ("episode" in write ? [write.episode] : []));
  const results = await database.transaction().execute(async (transaction) => {
    const stored = await insertSteps(transaction, steps);
    const started = await insertEpisodes(transaction, episodes);
    await markDelivered(transaction, deliveries);
    const made = new Map<EpisodeWrite, boolean>();
    // Always in the same order, so that no two transactions wait for each other.
    for (const write of writes.toSorted((a, b) => (startedId(a) < startedId(b) ? -1 : 1))) {
      if ("session" in write) made.set(write, await insertSession(transaction, write.session));
      else if ("start" in write) made.set(write, await startSession(transaction, write.start));
    }
    for (const write of writes) if ("uses" in write) await markUsed(transaction, write.uses);
    return writes.map((write) => {
      if ("step" in write) return stored.has(write.step);
      return "episode" in write ? started.has(write.episode) : (made.get(write) ?? true);
    });
  });
  // In the background, as `doOnce` does it.
  const requests = episodes.filter(({ request }) => request !== undefined).length;
  if (requests > 0) void forgetOldRequests(database, requests).catch(() => {});
  return results;
}

/** The session that it starts. */
function startedId(write: EpisodeWrite): string {
  if ("session" in write) return write.session.row.id;
  return "start" in write ? write.start.episode.id : "";
}
