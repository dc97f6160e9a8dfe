import { sql } from "kysely";
import type { RunsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isExperiment } from "../results/projects-store.ts";

/** A run whose target is external, as `/v1/experiments` has it. */
export interface ExperimentRow extends Pick<RunsTable, "id" | "name" | "tags" | "metadata" | "created_at"> {
  project_id: string;
}

const columns = ["id", "name", "tags", "metadata", "created_at"] as const;

export async function selectExperiment(
  database: Database,
  accountId: string,
  id: string,
): Promise<ExperimentRow | undefined> {
  return (await selectExperimentsByIds(database, accountId, [id]))[0];
}

/** Replaces an experiment's metadata. Returns undefined if the account has no such experiment. */
export async function replaceMetadata(
  writer: Database,
  accountId: string,
  id: string,
  metadata: string,
): Promise<ExperimentRow | undefined> {
  return await writer
    .updateTable("runs")
    .set({ metadata })
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .where(isExperiment)
    .returning(columns)
    .returning((of) => of.ref("project_id").$notNull().as("project_id"))
    .executeTakeFirst();
}

export interface ExperimentPage {
  /** Absent: of any project. */
  projectId: string | undefined;
  limit: number;
  offset: number;
}

/** The ids of an account's experiments, newest first, with their approximate sizes. */
export async function selectExperimentSizes(
  reader: Database,
  accountId: string,
  { projectId, limit, offset }: ExperimentPage,
) {
  const bytes = sql<number>`coalesce(octet_length(tags), 0) + coalesce(octet_length(metadata), 0)`;
  let query = reader
    .selectFrom("runs")
    .select(["id", bytes.as("bytes")])
    .where("account_id", "=", accountId)
    .where(isExperiment);
  if (projectId !== undefined) query = query.where("project_id", "=", projectId);
  return await query
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();
}

/** An account's experiments of these ids, in no particular order. */
export async function selectExperimentsByIds(
  reader: Database,
  accountId: string,
  ids: readonly string[],
): Promise<ExperimentRow[]> {
  if (ids.length === 0) return [];
  return await reader
    .selectFrom("runs")
    .select(columns)
    .select((of) => of.ref("project_id").$notNull().as("project_id"))
    .where("id", "in", ids)
    .where("account_id", "=", accountId)
    .where(isExperiment)
    .execute();
}
