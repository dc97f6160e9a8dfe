import type { TaskSplitName } from "@presage/contract";
import { sql } from "kysely";
import { insertRows, prepareStatement } from "../platform/storage/rows.ts";
import type { EnvironmentTasksTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Task, TaskCounts } from "./environment.ts";

export async function insertTasks(
  transaction: Database,
  rows: readonly EnvironmentTasksTable[],
): Promise<void> {
  await insertRows(transaction, "environment_tasks", rows);
}

export async function updateTaskCounts(transaction: Database, id: string, counts: TaskCounts): Promise<void> {
  await transaction
    .updateTable("environments")
    .set({ tasks: JSON.stringify(counts) })
    .where("id", "=", id)
    .execute();
}

interface TaskPart {
  from: number;
  limit: number;
}

/** How long the tasks of a split are from a place on, in their order. */
export async function selectTaskSizes(
  reader: Database,
  environmentId: string,
  split: TaskSplitName,
  part: TaskPart,
): Promise<{ index: number; bytes: number }[]> {
  const rows = await tasksFrom(reader, environmentId, split, part)
    .select(["position", sql<number>`octet_length(task)`.as("bytes")])
    .execute();
  return rows.map(({ position, bytes }) => ({ index: Number(position), bytes: Number(bytes) }));
}

export interface IndexedTask {
  index: number;
  task: Task;
}

/** Tasks of a split from a place on, in their order. */
export async function selectTasks(
  reader: Database,
  environmentId: string,
  split: TaskSplitName,
  part: TaskPart,
): Promise<IndexedTask[]> {
  const rows = await tasksOfPart(reader, [environmentId, split, part.from, part.limit]);
  return rows.map(({ position, task }) => ({ index: Number(position), task: JSON.parse(task) as Task }));
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
