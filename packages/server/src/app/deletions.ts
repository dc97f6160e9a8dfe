import { sql } from "kysely";
import { selectAccountIds } from "../accounts/users-store.ts";
import type { Config } from "../config/config.ts";
import { deleteOldEpisodes } from "../environments/episodes/episode.ts";
import { deleteOldAuditEvents } from "../platform/audit.ts";
import { type DeletedBatch, deleteInBatches } from "../platform/storage/batches.ts";
import { type Micros, microsPerDay } from "../platform/storage/columns.ts";
import type { Keyset } from "../platform/storage/lists.ts";
import { forgetOldRequests } from "../platform/storage/once.ts";
import type { Database, Tables } from "../platform/storage/schema/tables.ts";
import { deleteOldPredictions } from "../predictions/deleted-predictions-store.ts";
import {
  type CountsPosition,
  deleteEmptyCounts,
  deleteMatchingResults,
  deleteOldResults,
} from "../results/delete/delete-results.ts";
import { type AgePosition, countsTables, forgetDeletions } from "../results/delete/deleted-results-store.ts";
import { deleteEndedShares } from "../shares/shares-store.ts";
import { deleteOldUsage } from "../usage/usage-store.ts";

/** One small transaction of a deletion, of at most `limit` rows. */
export type DeletionStep = { limit: number } & (
  | { kind: "results"; before: Micros; place: AgePosition | undefined }
  | { kind: "predictions"; before: Micros }
  | { kind: "episodes"; before: Micros; accountId: string; place: Keyset | undefined }
  | { kind: "usage" | "audit"; before: Micros; accountId: string }
  | { kind: "chosen results" }
  | { kind: "empty counts"; place: CountsPosition | undefined }
);

type WithoutPlace<Step> = Step extends unknown ? Omit<Step, "limit" | "place"> : never;
/** The data that a step deletes, without where it begins and how much it may take. */
type DeletionTarget = WithoutPlace<DeletionStep>;

export type Place = AgePosition | Keyset | CountsPosition | true;

export async function takeDeletionStep(database: Database, step: DeletionStep): Promise<DeletedBatch<Place>> {
  switch (step.kind) {
    case "results":
      return await deleteOldResults(database, step.before, step.place, step.limit);
    case "predictions":
      return await deleteOldPredictions(database, step.before, step.limit);
    case "episodes":
      return await deleteOldEpisodes(database, step, step.place, step.limit);
    case "usage":
      return await deleteOldUsage(database, step, step.limit);
    case "audit":
      return await deleteOldAuditEvents(database, step, step.limit);
    case "chosen results":
      return await deleteMatchingResults(database, step.limit);
    case "empty counts":
      return await deleteEmptyCounts(database, step.place, step.limit);
  }
}

/** New requests delete expired ones; those left by the last requests are deleted as if after this many new ones. */
const forgottenRequests = 50;
/** For how long a deletion by filter can be looked up after its end. */
const deletionsDays = 30;

export interface DeletionWork {
  database: Database;
  takeStep(step: DeletionStep): Promise<DeletedBatch<Place>>;
  onDeleted(kind: DeletionStep["kind"], rows: number, heldMs: number): void;
}

/** Deletes everything that is too old at a given time. */
export async function deleteWhatIsOld(
  work: DeletionWork,
  { results, predictions, episodes, usage, audit }: Partial<Config["retention"]>,
  now: Micros,
  signal: AbortSignal,
): Promise<void> {
  const { database } = work;
  const before = (days: number): Micros => now - days * microsPerDay;
  if (results !== undefined) await deleteAll(work, { kind: "results", before: before(results) }, signal);
  if (predictions !== undefined)
    await deleteAll(work, { kind: "predictions", before: before(predictions) }, signal);
  const perAccount = Object.entries({ episodes, usage, audit } as const).flatMap(([kind, days]) =>
    days === undefined ? [] : [{ kind: kind as "episodes" | "usage" | "audit", before: before(days) }],
  );
  if (perAccount.length > 0) {
    for (const accountId of await selectAccountIds(database))
      for (const what of perAccount) await deleteAll(work, { ...what, accountId }, signal);
  }
  await deleteAll(work, { kind: "empty counts" }, signal);
  await forgetDeletions(database, before(deletionsDays));
  await deleteEndedShares(database, now);
  await forgetOldRequests(database, forgottenRequests);
}

/** Deletes the results of all pending deletions by filter. */
export async function deleteWhatIsChosen(work: DeletionWork, signal: AbortSignal): Promise<void> {
  await deleteAll(work, { kind: "chosen results" }, signal);
}

/** The tables of kinds that every server looks for. */
const tablesOf: Partial<Record<DeletionStep["kind"], readonly (keyof Tables)[]>> = {
  predictions: ["predictions"],
  "empty counts": countsTables,
};

/** In an SQLite file a step starts a thread, which is not needed if there are no such rows. */
async function mayFind(database: Database, kind: DeletionStep["kind"]): Promise<boolean> {
  for (const table of tablesOf[kind] ?? []) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(database);
    if (rows.length > 0) return true;
  }
  return tablesOf[kind] === undefined;
}

async function deleteAll(work: DeletionWork, what: DeletionTarget, signal: AbortSignal): Promise<void> {
  if (!(await mayFind(work.database, what.kind))) return;
  await deleteInBatches<Place>(
    work.database,
    // A step returns the kind of place that the next step of its kind takes.
    (place, limit) => work.takeStep({ ...what, place, limit } as DeletionStep),
    { signal, onDeleted: (rows, heldMs) => work.onDeleted(what.kind, rows, heldMs) },
  );
}
