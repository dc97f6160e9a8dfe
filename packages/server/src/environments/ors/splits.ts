import { TaskSplitName } from "@presage/contract";
import { countOf } from "../../platform/count-of.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { EnvironmentRevision } from "../environment.ts";

/** The splits of an environment that have tasks. */
export function splitsOf({ tasks }: Pick<EnvironmentRevision, "tasks">): TaskSplitName[] {
  return TaskSplitName.options.filter((split) => (tasks[split] ?? 0) > 0);
}

/** A split of an environment by its name. */
export function readSplit(
  environment: Pick<EnvironmentRevision, "name" | "tasks">,
  name: string,
): { split: TaskSplitName; count: number } {
  const splits = splitsOf(environment);
  const split = splits.find((each) => each === name);
  if (split !== undefined) return { split, count: environment.tasks[split] ?? 0 };
  const known = splits.length === 0 ? "no tasks" : `the splits ${splits.join(", ")}`;
  throw new ServiceError("bad_request", `Invalid split: the environment ${environment.name} has ${known}.`);
}

/** The split and the index of a task. Throws if the environment has no such task. */
export function readTaskIndex(
  environment: Pick<EnvironmentRevision, "name" | "tasks">,
  wanted: { split: string; index: number },
): { split: TaskSplitName; index: number } {
  const { split, count } = readSplit(environment, wanted.split);
  if (wanted.index >= 0 && wanted.index < count) return { split, index: wanted.index };
  throw noSuchTask(environment, split);
}

/** Also of a task that was deleted after the environment was read. */
export function noSuchTask(
  { name, tasks }: Pick<EnvironmentRevision, "name" | "tasks">,
  split: TaskSplitName,
): ServiceError {
  return new ServiceError(
    "bad_request",
    `Invalid index: the split ${split} of the environment ${name} has ${countOf(tasks[split] ?? 0, "task")}, counted from 0.`,
  );
}
