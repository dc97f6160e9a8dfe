import type { Database } from "../../storage/schema/tables.ts";
import { insertSteps, type NewStep } from "../episodes/new-steps-store.ts";
import { type Delivery, markDelivered, markUsed, type Uses } from "../ors/ors-sessions-store.ts";

/** A change in an episode or its session. Plain data: it crosses threads. */
export type EpisodeWrite = { step: NewStep } | { delivery: Delivery } | { uses: Uses };

/** Makes changes in one transaction, which many callers share. Says of each whether it was made: a step may be too late. */
export async function applyWrites(database: Database, writes: readonly EpisodeWrite[]): Promise<boolean[]> {
  const steps = writes.flatMap((write) => ("step" in write ? [write.step] : []));
  const deliveries = writes.flatMap((write) => ("delivery" in write ? [write.delivery] : []));
  const uses = writes.flatMap((write) => ("uses" in write ? [write.uses] : []));
  return await database.transaction().execute(async (transaction) => {
    const stored = await insertSteps(transaction, steps);
    await markDelivered(transaction, deliveries);
    for (const each of uses) await markUsed(transaction, each);
    return writes.map((write) => !("step" in write) || stored.has(write.step));
  });
}
