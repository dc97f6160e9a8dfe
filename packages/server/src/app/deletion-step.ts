import { deleteOldAuditEvents } from "../accounts/audit-log.ts";
import { deleteOldEpisodes, type EpisodePlace } from "../environments/episodes/delete-episodes.ts";
import type { DeletedBatch } from "../platform/storage/delete-in-batches.ts";
import type { Micros } from "../platform/storage/columns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { deleteOldPredictions } from "../predictions/delete-predictions.ts";
import { type CountsPlace, deleteEmptyCounts, deleteMatchingResults, deleteOldResults } from "../results/delete/delete-results.ts";
import type { AgePlace } from "../results/delete/deleted-results-store.ts";
import { deleteOldUsage } from "../usage/usage-store.ts";

/** One small transaction of what is to be deleted, at most `limit` rows. */
export type DeletionStep = { limit: number } & (
  | { kind: "results"; before: Micros; place: AgePlace | undefined }
  | { kind: "predictions"; before: Micros }
  | { kind: "episodes"; before: Micros; accountId: string; place: EpisodePlace | undefined }
  | { kind: "usage" | "audit"; before: Micros; accountId: string }
  | { kind: "chosen results" }
  | { kind: "empty counts"; place: CountsPlace | undefined }
);

type WithoutPlace<Step> = Step extends unknown ? Omit<Step, "limit" | "place"> : never;
/** What a step deletes, without where it begins and how much it may take. */
export type DeletionTarget = WithoutPlace<DeletionStep>;

export type Place = AgePlace | EpisodePlace | CountsPlace | true;

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
