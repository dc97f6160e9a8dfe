import {
  OpenEnvHealthResponse,
  OpenEnvMcpResponse,
  OpenEnvMetadataResponse,
  OpenEnvNamesResponse,
  OpenEnvSchemaResponse,
  OpenEnvSplitsResponse,
  OpenEnvTaskCountResponse,
  OpenEnvTaskListResponse,
  OpenEnvTaskPath,
  OpenEnvTaskResponse,
  OrsSplit,
  OrsTaskPlace,
  OrsTaskRange,
} from "@presage/contract";
import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { body, errorResponse, response } from "../../http/describe.ts";
import { describeOpenEnv, serverDescription } from "./openenv-route.ts";

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
const openEnvTaskPaths: ZodOpenApiPathsObject = {
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

const path = "/v1/environments/{name}/openenv";

/** OpenAPI has no words for a WebSocket. */
export const openEnvDescription = `Environments for clients of [OpenEnv](https://github.com/huggingface/OpenEnv). Their base URL is \`http://any:KEY@HOST/v1/environments/NAME/openenv\`. They open the WebSocket \`/ws\` below it, on which one episode at a time is played.

The client sends \`{"type": "reset", "data": {"split", "index", "seed", "episode_id"}}\`, all optional, \`{"type": "step", "data": {"message": "the action"}}\`, \`{"type": "state"}\` or \`{"type": "close"}\`. The server sends \`{"type": "observation", "data": {"observation": {"prompt", "truncated", "metadata"}, "reward", "done", "metadata"}}\`, \`{"type": "state", "data": {"episode_id", "step_count", …}}\`, or \`{"type": "error", "data": {"message", "code"}}\` with the code \`INVALID_JSON\`, \`UNKNOWN_TYPE\`, \`VALIDATION_ERROR\`, \`EXECUTION_ERROR\`, \`CAPACITY_REACHED\` or \`SESSION_ERROR\`. Messages are answered in their order; at most 64 may wait, and one has at most a megabyte.

After an error the episode stands where it was, and the message can be sent again. An answer comes within 50 seconds. A reset with the \`episode_id\` of an observation's metadata goes on with that episode, and returns its last answer once more.`;

export const openEnvPaths: ZodOpenApiPathsObject = {
  [`${path}/schema`]: {
    get: describeOpenEnv("getOpenEnvSchema", "Show OpenEnv's schemas", {
      description: "Returns the JSON schemas of actions, observations and the state.",
      responses: {
        "200": response("The schemas", OpenEnvSchemaResponse, {
          action: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
          observation: { type: "object", properties: { prompt: { type: "string" } } },
          state: { type: "object", properties: { step_count: { type: "integer" } } },
        }),
      },
    }),
  },
  [`${path}/metadata`]: {
    get: describeOpenEnv("getOpenEnvMetadata", "Show OpenEnv's metadata", {
      description: "Returns the environment's name and description, with its revision as the version.",
      responses: {
        "200": response("The metadata", OpenEnvMetadataResponse, {
          name: "kitchen",
          description: "A kitchen, as qwen-wm knows it.",
          version: "1",
        }),
      },
    }),
  },
  [`${path}/health`]: {
    get: describeOpenEnv("getOpenEnvHealth", "Check an environment", {
      description: "Returns `healthy` if the environment exists.",
      responses: { "200": response("It is there", OpenEnvHealthResponse, { status: "healthy" }) },
    }),
  },
  [`${path}/openapi.json`]: {
    get: describeOpenEnv("getOpenEnvDescription", "Describe OpenEnv's server", {
      description: "Returns what `openenv validate` reads: which paths of OpenEnv's own server there are.",
      responses: {
        "200": response(
          "A short OpenAPI document",
          z.looseObject({ openapi: z.string().meta({ description: "OpenAPI's version." }) }),
          serverDescription,
        ),
      },
    }),
  },
  [`${path}/mcp`]: {
    post: describeOpenEnv("callOpenEnvMcp", "Call MCP", {
      description: "Responds with an error of JSON-RPC, whatever the body: environments have no MCP tools.",
      responses: {
        "200": response("The error", OpenEnvMcpResponse, {
          jsonrpc: "2.0",
          id: null,
          error: {
            code: -32601,
            message: "This environment has no MCP tools. Send steps to its WebSocket.",
          },
        }),
      },
    }),
  },
  [`${path}/list_environments`]: {
    get: describeOpenEnv("listOpenEnvEnvironments", "Show OpenEnv's name", {
      description:
        "Returns a list with the environment's name alone, which paths of OpenEnv's Task API begin with.",
      responses: { "200": response("The name", OpenEnvNamesResponse, ["kitchen"]) },
    }),
  },
  ...openEnvTaskPaths,
};
