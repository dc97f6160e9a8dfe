import type { TaskSplitName } from "@presage/contract";
import { type Changer, recordChange } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { type Pieces, readInPieces, refuseLargePage } from "../platform/storage/lists.ts";
import { doOnce, type Once } from "../platform/storage/once.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import {
  type EnvironmentRevision,
  type IndexedTask,
  sandboxName,
  sandboxTasks,
  type TaskCounts,
} from "./environment.ts";
import { findEnvironment, noSuchEnvironment, refuseBuiltIn } from "./environments.ts";
import {
  insertTasks,
  lockEnvironment,
  selectTaskSizes,
  selectTasks,
  updateTaskCounts,
} from "./environments-store.ts";

/** A split of many tasks is drawn from, not listed. */
const maxTasks = 1_000_000;

export interface NewTask {
  split: TaskSplitName;
  /** As JSON: its objects would take a hundred times the memory of their text. */
  task: string;
}

export interface AddedTasks {
  added: TaskCounts;
  tasks: TaskCounts;
}

/** Appends tasks to the splits of an environment: all of them, or none. */
export async function addTasks(
  { store }: { store: Store },
  requester: Changer,
  name: string,
  newTasks: readonly NewTask[],
  once?: Once,
): Promise<AddedTasks> {
  refuseBuiltIn(name);
  return await doOnce(store.writer(requester), once, {
    async work(transaction) {
      const environment = await lockEnvironment(transaction, requester.accountId, name);
      if (environment === undefined) throw noSuchEnvironment();
      const tasks = JSON.parse(environment.tasks) as TaskCounts;
      const added: TaskCounts = {};
      const rows = newTasks.map(({ split, task }) => {
        const position = tasks[split] ?? 0;
        tasks[split] = position + 1;
        added[split] = (added[split] ?? 0) + 1;
        return { environment_id: environment.id, split, position, task };
      });
      if (Object.values(tasks).some((count) => count > maxTasks))
        throw new ServiceError("quota_exceeded", `A split of an environment has at most ${maxTasks} tasks.`);
      await insertTasks(transaction, rows);
      await updateTaskCounts(transaction, environment.id, tasks);
      await recordChange(transaction, requester, {
        action: "environment.add_tasks",
        objectId: environment.id,
        detail: { name, ...added },
      });
      return { added, tasks };
    },
    toReceipt: (done) => done,
    recall: async (done) => done,
  });
}

interface Part {
  from: number;
  limit: number;
}

/** Tasks of a split from an index on, in their order. */
export async function listTasks(
  services: { store: Store },
  requester: Requester,
  { environment, split }: { environment: EnvironmentRevision; split: TaskSplitName },
  part: Part,
): Promise<IndexedTask[]> {
  if (environment.name === sandboxName) return sandboxTasks(split).slice(part.from, part.from + part.limit);
  return await selectTasks(services.store.briefReader(requester), environment.id, split, part);
}

/** One page of the tasks of a split, and the index of the next one. */
export async function listTaskPage(
  services: { store: Store },
  requester: Requester,
  { name, split }: { name: string; split: TaskSplitName },
  part: Part,
): Promise<{ tasks: Pieces<IndexedTask>; next: number | undefined }> {
  const environment = await findEnvironment(services, requester, name);
  const tasks = await readTasksInPieces(services, requester, { environment, split }, part, refuseLargeTasks);
  const end = part.from + part.limit;
  return { tasks, next: end < (environment.tasks[split] ?? 0) ? end : undefined };
}

function refuseLargeTasks(bytes: readonly number[]): void {
  refuseLargePage(bytes, "tasks", "Ask for fewer tasks with limit.");
}

/** Tasks of a split from an index on, in their order: each may have megabytes. Throws if their environment is deleted meanwhile. */
export async function readTasksInPieces(
  { store }: { store: Store },
  requester: Requester,
  { environment, split }: { environment: Pick<EnvironmentRevision, "id" | "tasks">; split: TaskSplitName },
  { from, limit }: Part,
  check: (bytes: readonly number[]) => void = () => {},
): Promise<Pieces<IndexedTask>> {
  const { id } = environment;
  if (id === sandboxName) {
    const tasks = sandboxTasks(split).slice(from, from + limit);
    return readInPieces(tasks, new Map(), async (some) => [...some]);
  }
  const reader = store.briefReader(requester);
  const sizes = await selectTaskSizes(reader, id, split, { from, limit });
  const expected = Math.min(limit, Math.max((environment.tasks[split] ?? 0) - from, 0));
  if (sizes.length < expected) throw noSuchEnvironment();
  check(sizes.map(({ bytes }) => bytes));
  const bytesOf = new Map(sizes.map(({ index, bytes }) => [index, bytes]));
  return readInPieces([...bytesOf.keys()], bytesOf, async (some) => {
    const tasks = await selectTasks(reader, id, split, { from: some[0] ?? from, limit: some.length });
    if (tasks.length < some.length) throw noSuchEnvironment();
    return tasks;
  });
}
