import type { TaskSplitName } from "@presage/contract";
import type { Requester } from "../platform/storage/reader.ts";
import type { EnvironmentRevision } from "./environment.ts";
import type { EnvironmentServices } from "./environment-services.ts";
import { sandboxName, sandboxTasks } from "./sandbox-environment.ts";
import { type IndexedTask, selectTasks } from "./tasks-store.ts";

/** Tasks of a split from a place on, in their order. */
export async function listTasks(
  services: Pick<EnvironmentServices, "store">,
  requester: Requester,
  { environment, split }: { environment: EnvironmentRevision; split: TaskSplitName },
  part: { from: number; limit: number },
): Promise<IndexedTask[]> {
  if (environment.name === sandboxName) return sandboxTasks(split).slice(part.from, part.from + part.limit);
  return await selectTasks(services.store.briefReader(requester), environment.id, split, part);
}
