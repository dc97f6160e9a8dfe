import { isAfter } from "../../platform/storage/keyset.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { RunDataset } from "../run.ts";

/** What is compared to find a run with the same target and params. JSON. */
export interface TeacherForcedRow {
  id: string;
  target: string;
  params: string | null;
  created_at: number;
}

/** Finished teacher-forced runs of a revision, the newest first. */
export async function selectTeacherForced(
  reader: Database,
  accountId: string,
  { datasetId, revisionId }: RunDataset,
  { limit, before }: { limit: number; before: TeacherForcedRow | undefined },
): Promise<TeacherForcedRow[]> {
  let query = reader
    .selectFrom("runs")
    .select(["id", "target", "params", "created_at"])
    .where("dataset_id", "=", datasetId)
    .where("revision_id", "=", revisionId)
    .where("account_id", "=", accountId)
    .where("mode", "=", "teacher-forced")
    .where("status", "=", "finished");
  if (before !== undefined) query = query.where(isAfter({ createdAt: before.created_at, id: before.id }));
  return await query.orderBy("created_at", "desc").orderBy("id", "desc").limit(limit).execute();
}
