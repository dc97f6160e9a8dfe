import { sql } from "kysely";
import type { ExperimentsTable } from "../../storage/schema/projects.ts";
import type { Database } from "../../storage/schema/tables.ts";

export type Experiment = Omit<ExperimentsTable, "account_id">;

const columns = ["id", "project_id", "name", "tags", "metadata", "created_at"] as const;

export async function insertExperiment(transaction: Database, row: ExperimentsTable): Promise<void> {
  await transaction.insertInto("experiments").values(row).execute();
}

export async function selectExperiment(
  database: Database,
  accountId: string,
  id: string,
): Promise<Experiment | undefined> {
  return (await selectExperimentsByIds(database, accountId, [id]))[0];
}

/** The project ids of an account's experiments, by the experiments' ids. */
export async function selectProjectsOfExperiments(
  database: Database,
  accountId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await database
    .selectFrom("experiments")
    .select(["id", "project_id"])
    .where("id", "in", ids)
    .where("account_id", "=", accountId)
    .execute();
  return new Map(rows.map(({ id, project_id }) => [id, project_id]));
}

/** Replaces an experiment's metadata. Returns undefined if the account has no such experiment. */
export async function replaceMetadata(
  writer: Database,
  accountId: string,
  id: string,
  metadata: string,
): Promise<Experiment | undefined> {
  return await writer
    .updateTable("experiments")
    .set({ metadata })
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .returning(columns)
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
): Promise<{ id: string; bytes: number }[]> {
  const bytes = sql<number>`coalesce(octet_length(tags), 0) + coalesce(octet_length(metadata), 0)`;
  let query = reader
    .selectFrom("experiments")
    .select(["id", bytes.as("bytes")])
    .where("account_id", "=", accountId);
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
): Promise<Experiment[]> {
  if (ids.length === 0) return [];
  return await reader
    .selectFrom("experiments")
    .select(columns)
    .where("id", "in", ids)
    .where("account_id", "=", accountId)
    .execute();
}
