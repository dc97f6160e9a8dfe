import type { EnvironmentConfig, TaskSplitName } from "@presage/contract";
import { sql } from "kysely";
import { parseStored } from "../platform/json.ts";
import type { Micros } from "../platform/storage/columns.ts";
import { type KeysetPage, type NumberedPage, newestFirst, toListPart } from "../platform/storage/lists.ts";
import { insertRows, prepareStatement, unlessNameIsTaken } from "../platform/storage/rows.ts";
import type {
  EnvironmentRevisionsTable,
  EnvironmentsTable,
  EnvironmentTasksTable,
} from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";
import {
  type EnvironmentRevision,
  type IndexedTask,
  sandboxEnvironment,
  type Task,
  type TaskCounts,
} from "./environment.ts";

/** Stores an environment, unless its account already has one of this name. Returns whether it was stored. */
export async function insertEnvironment(transaction: Database, row: EnvironmentsTable) {
  return (await insertRows(transaction, "environments", [row], unlessNameIsTaken)).length > 0;
}

export async function insertEnvironmentRevision(transaction: Database, row: EnvironmentRevisionsTable) {
  await transaction.insertInto("environment_revisions").values(row).execute();
}

/** An account's environment by name, in its latest revision unless another one is given. */
export async function selectEnvironment(
  database: Database,
  accountId: string,
  { name, revision }: { name: string; revision?: number | undefined },
): Promise<EnvironmentRevision | undefined> {
  const [row] =
    revision === undefined
      ? await latestRevision(database, [accountId, name])
      : await someRevision(database, [accountId, name, revision]);
  return row && parseEnvironment(row);
}

const latestRevision = prepareStatement((database) =>
  withRevisions(database, "")
    .where("environment.name", "=", "")
    .whereRef("revision.revision", "=", "environment.last_revision"),
);

const someRevision = prepareStatement((database) =>
  withRevisions(database, "").where("environment.name", "=", "").where("revision.revision", "=", 0),
);

const bytesOfConfig = sql<number>`octet_length(revision.config)`.as("bytes");

/** Names of an account's environments that a world plays, in their latest revisions or in those of episodes that may go on. */
export async function selectEnvironmentsThrough(
  database: Database,
  accountId: string,
  { world, expiredBefore }: { world: string; expiredBefore: Micros },
) {
  // Matches the JSON field only: inside a JSON string, the quotes would be escaped.
  const rows = await withRevisions(database, accountId)
    .where((of) =>
      of.or([
        of("revision.revision", "=", of.ref("environment.last_revision")),
        of.exists(
          of
            .selectFrom("episodes")
            .select("episodes.id")
            .whereRef("episodes.environment_id", "=", "environment.id")
            .whereRef("episodes.revision", "=", "revision.revision")
            .where("episodes.status", "=", "open")
            .where("episodes.last_active_at", ">=", expiredBefore),
        ),
      ]),
    )
    .where("revision.config", "like", `%"world":"${world}@%`)
    .orderBy("environment.name")
    .execute();
  return [...new Set(rows.map(({ name }) => name))];
}

/** The sizes of the environments of a page. */
export async function selectEnvironmentSizes(reader: Database, accountId: string, page: KeysetPage) {
  return await pageOf(reader, accountId, page).clearSelect().select(bytesOfConfig).execute();
}

/** An account's environments in their latest revisions, newest first. */
export async function selectEnvironments(reader: Database, accountId: string, page: KeysetPage) {
  const part = toListPart(await pageOf(reader, accountId, page).execute(), page.limit);
  return { environments: part.rows.map(parseEnvironment), next: part.next };
}

/** The latest revisions of the environments among these ids. */
export async function selectLatest(
  reader: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const query = reader.selectFrom("environments").select(["id", "last_revision"]).where("id", "in", ids);
  return new Map((await query.execute()).map(({ id, last_revision }) => [id, last_revision]));
}

/** A page and one row more. */
function pageOf(reader: Database, accountId: string, page: KeysetPage) {
  const latest = withRevisions(reader, accountId).whereRef(
    "revision.revision",
    "=",
    "environment.last_revision",
  );
  return newestFirst(latest, page, "environment");
}

function withRevisions(database: Database, accountId: string) {
  return database
    .selectFrom("environments as environment")
    .innerJoin("environment_revisions as revision", "revision.environment_id", "environment.id")
    .select([
      "environment.id",
      "environment.name",
      "environment.tasks",
      "environment.created_at",
      "revision.revision",
      "revision.config",
      "revision.created_at as revised_at",
    ])
    .where("environment.account_id", "=", accountId);
}

function parseEnvironment(
  row: Omit<EnvironmentRevision, "config" | "tasks"> & { config: string; tasks: string },
): EnvironmentRevision {
  return {
    ...row,
    // Checked before it was stored.
    config: parseStored(row.config) as EnvironmentConfig,
    tasks: JSON.parse(row.tasks) as TaskCounts,
  };
}

/** The sizes of a page of an environment's revisions. */
export async function selectRevisionSizes(reader: Database, environmentId: string, page: NumberedPage) {
  return await revisionsOf(reader, environmentId, page).select(bytesOfConfig).execute();
}

function revisionsOf(reader: Database, environmentId: string, { limit, below }: NumberedPage) {
  return reader
    .selectFrom("environment_revisions as revision")
    .where("environment_id", "=", environmentId)
    .$if(below !== undefined, (query) => query.where("revision", "<", below ?? 0))
    .orderBy("revision", "desc")
    .limit(limit);
}

/** A page of an environment's revisions, and one more. */
export async function selectEnvironmentRevisions(
  reader: Database,
  environmentId: string,
  page: NumberedPage,
) {
  const rows = await revisionsOf(reader, environmentId, { ...page, limit: page.limit + 1 })
    .select(["revision", "config", "created_at"])
    .execute();
  return rows.map(({ revision, config, created_at }) => ({
    revision,
    config: parseStored(config) as EnvironmentConfig,
    created_at,
  }));
}

/** The names among these that any account's environments have. */
export async function selectUsedNames(database: Database, names: readonly string[]) {
  const rows = await database
    .selectFrom("environments")
    .select("name")
    .distinct()
    .where("name", "in", names)
    .orderBy("name")
    .execute();
  return rows.map(({ name }) => name);
}

/**
 * Locks an environment until the transaction ends, against other changes or also against episodes that start in it. Undefined if the
 * account has no environment of this name.
 */
export async function lockEnvironment(
  transaction: Database,
  accountId: string,
  name: string,
  strength: "forNoKeyUpdate" | "forUpdate" = "forNoKeyUpdate",
) {
  return await transaction
    .selectFrom("environments")
    .select(["id", "last_revision", "tasks"])
    .where("account_id", "=", accountId)
    .where("name", "=", name)
    .$if(isPostgres(transaction), (query) => query[strength]())
    .executeTakeFirst();
}

/** Whether an environment still exists. If so, it cannot be deleted until the transaction ends. */
export async function holdEnvironment(transaction: Database, id: string) {
  return (await holdEnvironments(transaction, [id])).has(id);
}

/** The environments among these that still exist. They cannot be deleted until the transaction ends. */
export async function holdEnvironments(transaction: Database, ids: readonly string[]) {
  const others = [...new Set(ids)].filter((id) => id !== sandboxEnvironment.id);
  if (others.length === 0) return new Set(ids);
  const found = await transaction
    .selectFrom("environments")
    .select("id")
    .where("id", "in", others)
    .orderBy("id")
    .$if(isPostgres(transaction), (query) => query.forKeyShare())
    .execute();
  return new Set([sandboxEnvironment.id, ...found.map(({ id }) => id)]);
}

export async function updateLastRevision(transaction: Database, id: string, number: number) {
  await transaction.updateTable("environments").set({ last_revision: number }).where("id", "=", id).execute();
}

/** Deletes an environment with its revisions and tasks. */
export async function deleteEnvironmentRows(transaction: Database, id: string) {
  await transaction.deleteFrom("environment_tasks").where("environment_id", "=", id).execute();
  await transaction.deleteFrom("environment_revisions").where("environment_id", "=", id).execute();
  await transaction.deleteFrom("environments").where("id", "=", id).execute();
}

export async function insertTasks(transaction: Database, rows: readonly EnvironmentTasksTable[]) {
  await insertRows(transaction, "environment_tasks", rows);
}

export async function updateTaskCounts(transaction: Database, id: string, counts: TaskCounts) {
  await transaction
    .updateTable("environments")
    .set({ tasks: JSON.stringify(counts) })
    .where("id", "=", id)
    .execute();
}

export interface TaskPart {
  from: number;
  limit: number;
}

/** The sizes of a split's tasks from an index on, in order. */
export async function selectTaskSizes(
  reader: Database,
  environmentId: string,
  split: TaskSplitName,
  part: TaskPart,
) {
  const rows = await tasksFrom(reader, environmentId, split, part)
    .select(["position", sql<number>`octet_length(task)`.as("bytes")])
    .execute();
  return rows.map(({ position, bytes }) => ({ index: position, bytes }));
}

/** A split's tasks from an index on, in order. */
export async function selectTasks(
  reader: Database,
  environmentId: string,
  split: TaskSplitName,
  part: TaskPart,
): Promise<IndexedTask[]> {
  const rows = await tasksOfPart(reader, [environmentId, split, part.from, part.limit]);
  return rows.map(({ position, task }) => ({ index: position, task: parseStored(task) as Task }));
}

const tasksOfPart = prepareStatement((database) =>
  tasksFrom(database, "", "train", { from: 0, limit: 0 }).select(["position", "task"]),
);

function tasksFrom(reader: Database, environmentId: string, split: TaskSplitName, { from, limit }: TaskPart) {
  return reader
    .selectFrom("environment_tasks")
    .where("environment_id", "=", environmentId)
    .where("split", "=", split)
    .where("position", ">=", from)
    .orderBy("position")
    .limit(limit);
}
