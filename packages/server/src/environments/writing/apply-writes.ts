import type { Database } from "../../storage/schema/tables.ts";
import { insertSteps, type NewStep } from "../episodes/new-steps-store.ts";
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

/** A change in an episode or its session. Plain data: it crosses threads. */
export type EpisodeWrite =
  | { step: NewStep }
  | { session: NewSession }
  | { start: SessionStart }
  | { delivery: Delivery }
  | { uses: Uses };

/** Makes changes in one transaction, which many callers share. Says of each whether it was made: others may have been first. */
export async function applyWrites(database: Database, writes: readonly EpisodeWrite[]): Promise<boolean[]> {
  const steps = writes.flatMap((write) => ("step" in write ? [write.step] : []));
  const deliveries = writes.flatMap((write) => ("delivery" in write ? [write.delivery] : []));
  return await database.transaction().execute(async (transaction) => {
    const stored = await insertSteps(transaction, steps);
    await markDelivered(transaction, deliveries);
    const made: boolean[] = [];
    for (const write of writes) {
      if ("step" in write) made.push(stored.has(write.step));
      else if ("session" in write) made.push(await insertSession(transaction, write.session));
      else if ("start" in write) made.push(await startSession(transaction, write.start));
      else made.push(true);
      if ("uses" in write) await markUsed(transaction, write.uses);
    }
    return made;
  });
}
