import { LRUCache } from "lru-cache";
import { ServiceError } from "../platform/errors.ts";
import { lruLimit } from "../platform/lru-limit.ts";
import type { EvaluationServices } from "./evaluation-services.ts";
import { selectOwnRunIds } from "./own-run-ids-store.ts";

/** Texts that are no run's id, or that of an external run, with the account before them. */
export type FreeRunIds = Pick<LRUCache<string, true>, "has" | "set">;

const maxFreeRunIds = 10_000;

/** A process's. An id never becomes a run's later: new runs get new ids, and no run becomes another's kind. */
export function createFreeRunIds(): FreeRunIds {
  return new LRUCache<string, true>(lruLimit(maxFreeRunIds));
}

/** As runs have them; any other text is free. */
const runId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Only Presage adds results to the runs that it makes itself. Throws if one of these is the id of such a run of the account. */
export async function refuseRunIds(
  { store, freeRunIds }: Pick<EvaluationServices, "store" | "freeRunIds">,
  accountId: string,
  named: readonly (string | undefined)[],
): Promise<void> {
  const unknown = new Set<string>();
  for (const id of named) {
    if (id !== undefined && runId.test(id) && !freeRunIds.has(`${accountId}/${id}`)) unknown.add(id);
  }
  if (unknown.size === 0) return;
  // A few rows by their keys, not behind long reads.
  const [own] = await selectOwnRunIds(store.database, accountId, [...unknown]);
  if (own !== undefined)
    throw new ServiceError(
      "conflict",
      `${own} is a run whose results Presage makes. Leave evaluation_run_id out, or name an experiment.`,
    );
  for (const id of unknown) freeRunIds.set(`${accountId}/${id}`, true);
}
