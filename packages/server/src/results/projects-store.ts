import { type RawBuilder, sql } from "kysely";
import { insertRows, unlessNameIsTaken } from "../platform/storage/rows.ts";
import type { ProjectsTable } from "../platform/storage/schema/results.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

export type ProjectRow = Omit<ProjectsTable, "account_id">;

export interface NewProject {
  name: string;
  userId: string;
}

const columns = ["id", "name", "created_by", "created_at"] as const;

/** Stores projects of an account, except those whose name it has already; returns how many it stored. */
export async function insertProjects(transaction: Database, projects: readonly ProjectsTable[]) {
  // Of two transactions with the same names the second waits for the first: always in one order, to avoid deadlocks.
  const rows = projects.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return (await insertRows(transaction, "projects", rows, unlessNameIsTaken)).length;
}

export async function selectProject(
  database: Database,
  accountId: string,
  id: string,
): Promise<ProjectRow | undefined> {
  return await database
    .selectFrom("projects")
    .select(columns)
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
}

export async function selectProjectByName(
  database: Database,
  accountId: string,
  name: string,
): Promise<ProjectRow | undefined> {
  return (await selectProjectsByNames(database, accountId, [name]))[0];
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
    .select(columns)
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
    .select(columns)
    .where("account_id", "=", accountId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();
}

/** Which of these are ids of an account's runs whose results Presage makes. */
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

/** Without a parameter, so that the indexes of these runs serve it. */
export const isExperiment: RawBuilder<boolean> = sql`target_kind = 'external' and status <> 'deleted'`;

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
