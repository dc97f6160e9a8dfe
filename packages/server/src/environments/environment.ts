import type { EnvironmentConfig, TaskLine, TaskSplitName } from "@presage/contract";
import type { Micros } from "../platform/storage/columns.ts";

/** A task without the split that it is in. */
export type Task = Omit<TaskLine, "split">;

export type TaskCounts = Partial<Record<TaskSplitName, number>>;

/** An environment in one of its revisions. */
export interface EnvironmentRevision {
  id: string;
  name: string;
  revision: number;
  config: EnvironmentConfig;
  tasks: TaskCounts;
  /** Undefined if it is built in. */
  times: { createdAt: Micros; revisedAt: Micros } | undefined;
}

/** What a setting is if the environment has none. */
export const environmentDefaults = { maxSteps: 30, promptForm: "state-action" } as const;
