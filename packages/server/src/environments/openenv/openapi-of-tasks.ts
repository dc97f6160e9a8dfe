import {
  OpenEnvSplitsResponse,
  OpenEnvTaskCountResponse,
  OpenEnvTaskListResponse,
  OpenEnvTaskPath,
  OpenEnvTaskResponse,
  OrsSplit,
  OrsTaskPlace,
  OrsTaskRange,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { body, errorResponse, response } from "../../http/describe.ts";
import { describeOpenEnv } from "./describe-openenv.ts";

const ofTask = "/v1/environments/{name}/openenv/{env_name}";
const requestParams = { path: OpenEnvTaskPath };
const noSuchSplit = {
  "400": errorResponse(
    "The environment has no such split",
    "Invalid split: the environment kitchen has the splits train, test.",
  ),
};
const noSuchTask = {
  "400": errorResponse(
    "The environment has no such split or task",
    "Invalid index: the split train of the environment kitchen has 120 tasks, counted from 0.",
  ),
};
const task = {
  split: "train",
  index: 0,
  prompt: "Turn on the stove.",
  goal: "The stove is on.",
  metadata: null,
} as const;

/** OpenEnv's Task API. */
export const openEnvTaskPaths: ZodOpenApiPathsObject = {
  [`${ofTask}/splits`]: {
    get: describeOpenEnv("listOpenEnvSplits", "List OpenEnv's splits", {
      description: "Lists the splits that have tasks.",
      requestParams,
      responses: { "200": response("The splits", OpenEnvSplitsResponse, [{ name: "train", type: "train" }]) },
    }),
  },
  [`${ofTask}/tasks`]: {
    post: describeOpenEnv("listOpenEnvTasks", "List OpenEnv's tasks", {
      description: "Lists all tasks of a split. A task is chosen by `split` and `index` of a reset.",
      requestParams,
      requestBody: body(OrsSplit, { split: "train" }),
      responses: {
        "200": response("The tasks", OpenEnvTaskListResponse, { tasks: [task], env_name: "kitchen" }),
        ...noSuchSplit,
      },
    }),
  },
  [`${ofTask}/num_tasks`]: {
    post: describeOpenEnv("countOpenEnvTasks", "Count OpenEnv's tasks", {
      description: "Counts the tasks of a split.",
      requestParams,
      requestBody: body(OrsSplit, { split: "train" }),
      responses: {
        "200": response("Their number", OpenEnvTaskCountResponse, { num_tasks: 120 }),
        ...noSuchSplit,
      },
    }),
  },
  [`${ofTask}/task`]: {
    post: describeOpenEnv("getOpenEnvTask", "Show one of OpenEnv's tasks", {
      description: "Returns one task of a split.",
      requestParams,
      requestBody: body(OrsTaskPlace, { split: "train", index: 0 }),
      responses: {
        "200": response("The task", OpenEnvTaskResponse, { task, env_name: "kitchen" }),
        ...noSuchTask,
      },
    }),
  },
  [`${ofTask}/task_range`]: {
    post: describeOpenEnv("listOpenEnvTaskRange", "List part of OpenEnv's tasks", {
      description: "Lists part of a split. Negative numbers count from its end.",
      requestParams,
      requestBody: body(OrsTaskRange, { split: "train", start: 0, stop: 10 }),
      responses: {
        "200": response("The tasks", OpenEnvTaskListResponse, { tasks: [task], env_name: "kitchen" }),
        ...noSuchSplit,
      },
    }),
  },
};
