import type { TaskSplitName } from "@presage/contract";
import { type Pieces, readInPieces, refuseLargePage } from "../platform/storage/read-in-pieces.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { EnvironmentRevision } from "./environment.ts";
import type { EnvironmentServices } from "./environment-services.ts";
import { findEnvironment, noSuchEnvironment } from "./find-environment.ts";
import { sandboxName, sandboxTasks } from "./sandbox-environment.ts";
import { type IndexedTask, selectTaskSizes, selectTasks } from "./tasks-store.ts";

interface Part {
  from: number;
  limit: number;
}

type Services = Pick<EnvironmentServices, "store">;

/** One page of the tasks of a split, and the place of the next one. */
export async function listTaskPage(
  services: Services,
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

/** Tasks of a split from a place on, in their order: each may have megabytes. Throws if their environment is deleted meanwhile. */
export async function readTasksInPieces(
  { store }: Services,
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
