import { type RawBuilder, sql } from "kysely";
import { bytesIn } from "../platform/storage/lists.ts";
import { insertRows, unlessNameIsTaken } from "../platform/storage/rows.ts";
import type { ProjectsTable } from "../platform/storage/schema/results.ts";
import type { RunsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

export type ProjectRow = Omit<ProjectsTable, "account_id">;

export interface NewProject {
  name: string;
  userId: string;
}

/** A run whose target is external, as `/v1/experiments` shows it. */
export interface ExperimentRow extends Pick<RunsTable, "id" | "name" | "tags" | "metadata" | "created_at"> {
  project_id: string;
}

export interface ExperimentPage {
  /** Any project if absent. */
  projectId: string | undefined;
  limit: number;
  offset: number;
}

const projectColumns = ["id", "name", "created_by", "created_at"] as const;
const experimentColumns = ["id", "name", "tags", "metadata", "created_at"] as const;

/** Without a parameter, so that the indexes of these runs serve it. */
const isExperiment: RawBuilder<boolean> = sql`target_kind = 'external' and status <> 'deleted'`;

/** Stores a project. Returns false if its name is taken. */
export async function insertProject(transaction: Database, project: ProjectsTable): Promise<boolean> {
  return (await insertRows(transaction, "projects", [project], unlessNameIsTaken)).length > 0;
}

export async function selectProject(
  database: Database,
  accountId: string,
  id: string,
): Promise<ProjectRow | undefined> {
  return await database
    .selectFrom("projects")
    .select(projectColumns)
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
}

/** An account's projects of these names, in no particular order. */
export async function selectProjectsByNames(
  database: Database,
  accountId: string,
  names: readonly string[],
): Promise<ProjectRow[]> {
  if (names.length === 0) return [];
  return await database
    .selectFrom("projects")
    .select(projectColumns)
    .where("account_id", "=", accountId)
    .where("name", "in", names)
    .execute();
}

/** An account's projects, newest first. */
export async function selectProjects(
  reader: Database,
  accountId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<ProjectRow[]> {
  return await reader
    .selectFrom("projects")
    .select(projectColumns)
    .where("account_id", "=", accountId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();
}

/** The ids among these that belong to an account's runs whose results Presage makes. */
export async function selectOwnRunIds(database: Database, accountId: string, ids: readonly string[]) {
  const rows = await database
    .selectFrom("runs")
    .select("id")
    .where("id", "in", ids)
    .where("account_id", "=", accountId)
    .where("target_kind", "!=", "external")
    .where("status", "!=", "deleted")
    .execute();
  return rows.map(({ id }) => id);
}

/** The project ids of an account's experiments, by the experiments' ids. */
export async function selectProjectsOfExperiments(
  database: Database,
  accountId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await database
    .selectFrom("runs")
    .select("id")
    // All external runs have a project.
    .select((of) => of.ref("project_id").$notNull().as("project_id"))
    .where("id", "in", ids)
    .where("account_id", "=", accountId)
    .where(isExperiment)
    .execute();
  return new Map(rows.map(({ id, project_id }) => [id, project_id]));
}

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
    .returning(experimentColumns)
    .returning((of) => of.ref("project_id").$notNull().as("project_id"))
    .executeTakeFirst();
}

/** The ids of an account's experiments, newest first, with their approximate sizes. */
export async function selectExperimentSizes(
  reader: Database,
  accountId: string,
  { projectId, limit, offset }: ExperimentPage,
) {
  let query = reader
    .selectFrom("runs")
    .select(["id", bytesIn(["tags", "metadata"])])
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
    .select(experimentColumns)
    .select((of) => of.ref("project_id").$notNull().as("project_id"))
    .where("id", "in", ids)
    .where("account_id", "=", accountId)
    .where(isExperiment)
    .execute();
}
