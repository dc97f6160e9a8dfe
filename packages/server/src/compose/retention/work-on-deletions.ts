import { forgetDeletions } from "../../evaluation/results/delete/result-deletions-store.ts";
import { selectAccountIds } from "../../identity/users/users-store.ts";
import { type Micros, microsPerDay, nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { type DeletedBatch, deleteInBatches } from "../../storage/writing/delete-in-batches.ts";
import type { DeletionStep, Place } from "./deletion-step.ts";

/** After how many days each kind is deleted; absent: never. */
export interface Retention {
  results?: number;
  predictions?: number;
  episodes?: number;
  usage?: number;
  audit?: number;
}

/** What became of deletions by filter can be read for so long. */
const deletionsDays = 30;

export interface DeletionWork {
  database: Database;
  takeStep<Next extends Place>(step: DeletionStep): Promise<DeletedBatch<Next>>;
  onDeleted(kind: DeletionStep["kind"], rows: number, heldMs: number): void;
}

/** Deletes everything that is too old. */
export async function deleteWhatIsOld(
  work: DeletionWork,
  retention: Retention,
  signal: AbortSignal,
): Promise<void> {
  const { database, takeStep } = work;
  const now = nowMicros();
  const before = (days: number): Micros => now - days * microsPerDay;
  const options = (kind: DeletionStep["kind"]) => ({
    signal,
    onDeleted: (rows: number, heldMs: number) => work.onDeleted(kind, rows, heldMs),
  });
  const { results, predictions, episodes, usage, audit } = retention;
  if (results !== undefined) {
    await deleteInBatches(
      database,
      (place: Extract<DeletionStep, { kind: "results" }>["place"], limit) =>
        takeStep({ kind: "results", before: before(results), place, limit }),
      options("results"),
    );
  }
  if (predictions !== undefined) {
    await deleteInBatches(
      database,
      (_: true | undefined, limit) => takeStep({ kind: "predictions", before: before(predictions), limit }),
      options("predictions"),
    );
  }
  if (episodes !== undefined || usage !== undefined || audit !== undefined) {
    for (const accountId of await selectAccountIds(database)) {
      if (episodes !== undefined) {
        await deleteInBatches(
          database,
          (place: Extract<DeletionStep, { kind: "episodes" }>["place"], limit) =>
            takeStep({ kind: "episodes", before: before(episodes), accountId, place, limit }),
          options("episodes"),
        );
      }
      for (const [kind, days] of [
        ["usage", usage],
        ["audit", audit],
      ] as const) {
        if (days === undefined) continue;
        await deleteInBatches(
          database,
          (_: true | undefined, limit) => takeStep({ kind, before: before(days), accountId, limit }),
          options(kind),
        );
      }
    }
  }
  await deleteInBatches(
    database,
    (place: Extract<DeletionStep, { kind: "empty counts" }>["place"], limit) =>
      takeStep({ kind: "empty counts", place, limit }),
    { signal },
  );
  await forgetDeletions(database, before(deletionsDays));
}

/** Deletes the results of all deletions by filter that wait. */
export async function deleteWhatIsChosen(work: DeletionWork, signal: AbortSignal): Promise<void> {
  await deleteInBatches(
    work.database,
    (_: true | undefined, limit) => work.takeStep({ kind: "chosen results", limit }),
    {
      signal,
      onDeleted: (rows, heldMs) => work.onDeleted("chosen results", rows, heldMs),
    },
  );
}
