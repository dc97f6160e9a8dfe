import { type SqlBool, sql } from "kysely";
import type { Micros } from "../../platform/storage/micros.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";

/** A place in the order of an account's episodes. */
export interface EpisodePlace {
  createdAt: Micros;
  id: string;
}

/** A dataset has its steps as a trajectory. */
const isInDataset = sql<SqlBool | number>`exists (select 1 from dataset_revisions as revision
  where revision.account_id = episodes.account_id and revision.state <> 'deleted' and exists (
    select 1 from dataset_samples as sample
    where sample.revision_id = revision.id and sample.trajectory_id = episodes.id))`;

/** The oldest episodes of an account that were last used before a time, after a place. */
export async function selectOldEpisodes(
  database: Database,
  accountId: string,
  before: Micros,
  after: EpisodePlace,
  limit: number,
): Promise<(EpisodePlace & { isInDataset: boolean; steps: number })[]> {
  const rows = await database
    .selectFrom("episodes")
    .select(["id", "created_at", "steps", isInDataset.as("is_in_dataset")])
    .where("account_id", "=", accountId)
    .where(sql<SqlBool>`(created_at, id) > (${after.createdAt}, ${after.id})`)
    .where("created_at", "<", before)
    .where("last_active_at", "<", before)
    .orderBy("created_at")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id, created_at, steps, is_in_dataset }) => ({
    id,
    createdAt: created_at,
    steps: Number(steps),
    isInDataset: Boolean(is_in_dataset),
  }));
}
