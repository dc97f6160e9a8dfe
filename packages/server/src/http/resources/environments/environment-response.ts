import type { Environment, EnvironmentTask, TaskSplitName } from "@presage/contract";
import type { EnvironmentRevision } from "../../../environments/environment.ts";
import type { IndexedTask } from "../../../environments/tasks/tasks-store.ts";
import { toIsoInstant } from "../../../storage/micros.ts";

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
