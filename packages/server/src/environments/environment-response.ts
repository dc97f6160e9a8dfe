import type { Environment, EnvironmentTask, TaskSplitName } from "@presage/contract";
import { toIsoInstant } from "../platform/storage/micros.ts";
import type { EnvironmentRevision } from "./environment.ts";
import type { IndexedTask } from "./tasks-store.ts";

export function toEnvironment({ name, revision, config, tasks, times }: EnvironmentRevision): Environment {
  return {
    name,
    revision,
    config,
    tasks: { ...tasks },
    is_built_in: times === undefined,
    created_at: times === undefined ? null : toIsoInstant(times.createdAt),
    revised_at: times === undefined ? null : toIsoInstant(times.revisedAt),
  };
}

export function toEnvironmentTask(split: TaskSplitName, { index, task }: IndexedTask): EnvironmentTask {
  return {
    split,
    index,
    initial_state: task.initial_state,
    prompt: task.prompt ?? null,
    context: task.context ?? null,
    goal: task.goal ?? null,
    metadata: task.metadata ?? null,
  };
}
