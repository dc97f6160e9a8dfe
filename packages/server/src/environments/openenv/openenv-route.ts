import {
  EnvironmentPath,
  OpenEnvAction,
  OpenEnvHealthResponse,
  OpenEnvMcpRequest,
  OpenEnvMcpResponse,
  OpenEnvMetadataResponse,
  OpenEnvNamesResponse,
  OpenEnvObservation,
  OpenEnvSchemaResponse,
  OpenEnvSplitsResponse,
  OpenEnvState,
  OpenEnvTaskCountResponse,
  OpenEnvTaskListResponse,
  OpenEnvTaskPath,
  OpenEnvTaskResponse,
  OrsSplit,
  OrsTaskPlace,
  OrsTaskRange,
} from "@presage/contract";
import { z } from "zod";
import { requesterOf } from "../../http/call.ts";
import { errorResponse, noSuch, response } from "../../http/describe.ts";
import type { HttpServices } from "../../http/exchange.ts";
import { readPath } from "../../http/request.ts";
import { hiddenRoute, reply, route } from "../../http/route.ts";
import { notFound } from "../../platform/errors.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import type { EnvironmentRevision } from "../environment.ts";
import { findEnvironment } from "../find-environment.ts";
import { readSplit, showSplits, showTask, streamTasks } from "../tasks.ts";
import { acceptSocket, type SocketServices } from "./openenv-socket.ts";

/** OpenAPI cannot describe a WebSocket. */
export const openEnvDescription = `Environments for clients of [OpenEnv](https://github.com/huggingface/OpenEnv). Their base URL is \`http://any:KEY@HOST/v1/environments/NAME/openenv\`. They open the WebSocket \`/ws\` below it, on which one episode at a time is played.

The client sends \`{"type": "reset", "data": {"split", "index", "seed", "episode_id"}}\`, all optional, \`{"type": "step", "data": {"message": "the action"}}\`, \`{"type": "state"}\` or \`{"type": "close"}\`. The server sends \`{"type": "observation", "data": {"observation": {"prompt", "truncated", "metadata"}, "reward", "done", "metadata"}}\`, \`{"type": "state", "data": {"episode_id", "step_count", …}}\`, or \`{"type": "error", "data": {"message", "code"}}\` with the code \`INVALID_JSON\`, \`UNKNOWN_TYPE\`, \`VALIDATION_ERROR\`, \`EXECUTION_ERROR\`, \`CAPACITY_REACHED\` or \`SESSION_ERROR\`. Messages are answered in order; at most 64 may wait, and each has at most a megabyte.

After an error the episode is unchanged, and the message can be sent again. An answer comes within 50 seconds. A reset with the \`episode_id\` of an observation's metadata continues that episode, and returns its last answer once more.`;

/** OpenEnv's clients have their own way to send the key. */
const common = {
  access: "program" as const,
  needs: "predict" as const,
  more: { security: [{ apiKey: [] }, { bearer: [] }, { basic: [] }] },
};
const key =
  "The key may also be the password of Basic authentication, which it becomes in `http://any:KEY@HOST/…`. Sessions and web pages are not let in.";
const path = "/v1/environments/:name/openenv";
const ofEnvironment = { ...common, params: EnvironmentPath };
/** For the routes of the Task API. */
const ofTasks = { ...common, params: OpenEnvTaskPath };
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

/** What `openenv validate` reads: the paths of OpenEnv's own server that exist here. Steps are taken over the WebSocket only. */
const serverDescription = {
  openapi: "3.1.0",
  info: { title: "OpenEnv Environment HTTP API", version: "1.0.0" },
  paths: {
    "/health": { get: { summary: "Health check" } },
    "/metadata": { get: { summary: "Name and description of the environment" } },
    "/schema": { get: { summary: "JSON schemas of actions, observations and the state" } },
    "/list_environments": { get: { summary: "The environment's name" } },
    "/{env_name}/splits": { get: { summary: "Splits of tasks" } },
    "/{env_name}/tasks": { post: { summary: "Tasks of a split" } },
    "/{env_name}/num_tasks": { post: { summary: "Number of tasks in a split" } },
    "/{env_name}/task": { post: { summary: "A task of a split" } },
    "/{env_name}/task_range": { post: { summary: "Part of the tasks of a split" } },
    "/mcp": { post: { summary: "JSON-RPC without methods" } },
  },
};

const schemas: OpenEnvSchemaResponse = {
  action: z.toJSONSchema(OpenEnvAction, { io: "input" }),
  observation: z.toJSONSchema(OpenEnvObservation, { io: "input" }),
  state: z.toJSONSchema(OpenEnvState, { io: "input" }),
};
/** JSON-RPC's code for a method that a server does not have. */
const methodNotFound = -32601;
const noTools: Omit<OpenEnvMcpResponse, "id"> = {
  jsonrpc: "2.0",
  error: {
    code: methodNotFound,
    message: "This environment has no MCP tools. Send steps to its WebSocket.",
  },
};

interface TaskServices {
  store: Store;
  log: HttpServices["log"];
}

const getSchema = route("GET", `${path}/schema`, {
  ...ofEnvironment,
  id: "getOpenEnvSchema",
  summary: "Show OpenEnv's schemas",
  description: `Returns the JSON schemas of actions, observations and the state. ${key}`,
  responses: {
    "200": response("The schemas", OpenEnvSchemaResponse, {
      action: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
      observation: { type: "object", properties: { prompt: { type: "string" } } },
      state: { type: "object", properties: { step_count: { type: "integer" } } },
    }),
    ...noSuch("environment"),
  },
  async handle(services: { store: Store }, { requester, params: { name } }) {
    await findEnvironment(services, requester, name);
    return reply(200, schemas);
  },
});

const getMetadata = route("GET", `${path}/metadata`, {
  ...ofEnvironment,
  id: "getOpenEnvMetadata",
  summary: "Show OpenEnv's metadata",
  description: `Returns the environment's name and description, with its revision as the version. ${key}`,
  responses: {
    "200": response("The metadata", OpenEnvMetadataResponse, {
      name: "kitchen",
      description: "A kitchen, as qwen-wm knows it.",
      version: "1",
    }),
    ...noSuch("environment"),
  },
  async handle(services: { store: Store }, { requester, params }) {
    const { name, revision, config } = await findEnvironment(services, requester, params.name);
    const description = config.description ?? "A text environment that a model simulates.";
    return reply(200, { name, description, version: String(revision) });
  },
});

const getHealth = route("GET", `${path}/health`, {
  ...ofEnvironment,
  id: "getOpenEnvHealth",
  summary: "Check an environment",
  description: `Returns \`healthy\` if the environment exists. ${key}`,
  responses: {
    "200": response("The environment exists", OpenEnvHealthResponse, { status: "healthy" }),
    ...noSuch("environment"),
  },
  async handle(services: { store: Store }, { requester, params: { name } }) {
    await findEnvironment(services, requester, name);
    return reply(200, { status: "healthy" as const });
  },
});

const getDescription = route("GET", `${path}/openapi.json`, {
  ...ofEnvironment,
  id: "getOpenEnvDescription",
  summary: "Describe OpenEnv's server",
  description: `Returns what \`openenv validate\` reads: which paths of OpenEnv's own server exist here. ${key}`,
  responses: {
    "200": response(
      "A short OpenAPI document",
      z.looseObject({ openapi: z.string().meta({ description: "OpenAPI's version." }) }),
      serverDescription,
    ),
    ...noSuch("environment"),
  },
  async handle(services: { store: Store }, { requester, params: { name } }) {
    await findEnvironment(services, requester, name);
    return reply(200, serverDescription);
  },
});

const callMcp = route("POST", `${path}/mcp`, {
  ...ofEnvironment,
  id: "callOpenEnvMcp",
  summary: "Call MCP",
  description: `Responds to every method with a JSON-RPC error, because environments have no MCP tools. ${key}`,
  body: OpenEnvMcpRequest,
  bodyExample: { jsonrpc: "2.0", id: 1, method: "tools/list" },
  responses: {
    "200": response("The error", OpenEnvMcpResponse, { ...noTools, id: 1 }),
    ...noSuch("environment"),
  },
  async handle(services: { store: Store }, { requester, params: { name }, body: { id = null } }) {
    await findEnvironment(services, requester, name);
    return reply(200, { ...noTools, id });
  },
});

const listNames = route("GET", `${path}/list_environments`, {
  ...ofEnvironment,
  id: "listOpenEnvEnvironments",
  summary: "Show OpenEnv's name",
  description: `Returns a list with only the environment's name, which is the beginning of the paths of OpenEnv's Task API. ${key}`,
  responses: {
    "200": response("The name", OpenEnvNamesResponse, ["kitchen"]),
    ...noSuch("environment"),
  },
  async handle(services: { store: Store }, { requester, params }) {
    return reply(200, [(await findEnvironment(services, requester, params.name)).name]);
  },
});

const listSplits = route("GET", `${path}/:env_name/splits`, {
  ...ofTasks,
  id: "listOpenEnvSplits",
  summary: "List OpenEnv's splits",
  description: `Lists the splits that have tasks. ${key}`,
  responses: {
    "200": response("The splits", OpenEnvSplitsResponse, [{ name: "train", type: "train" }]),
    ...noSuch("environment"),
  },
  async handle(services: { store: Store }, { requester, params }) {
    return reply(200, showSplits(await environmentNamedAgain(services, requester, params)));
  },
});

const listTasks = route("POST", `${path}/:env_name/tasks`, {
  ...ofTasks,
  id: "listOpenEnvTasks",
  summary: "List OpenEnv's tasks",
  description: `Lists all tasks of a split. A task is chosen by \`split\` and \`index\` of a reset. ${key}`,
  body: OrsSplit,
  bodyExample: { split: "train" },
  responses: {
    "200": response("The tasks", OpenEnvTaskListResponse, { tasks: [task], env_name: "kitchen" }),
    ...noSuchSplit,
    ...noSuch("environment"),
  },
  async handle(services: TaskServices, { call, requester, params, body: { split } }) {
    return await streamTasks(services, call, await environmentNamedAgain(services, requester, params), {
      split,
    });
  },
});

const countTasks = route("POST", `${path}/:env_name/num_tasks`, {
  ...ofTasks,
  id: "countOpenEnvTasks",
  summary: "Count OpenEnv's tasks",
  description: `Counts the tasks of a split. ${key}`,
  body: OrsSplit,
  bodyExample: { split: "train" },
  responses: {
    "200": response("Their number", OpenEnvTaskCountResponse, { num_tasks: 120 }),
    ...noSuchSplit,
    ...noSuch("environment"),
  },
  async handle(services: { store: Store }, { requester, params, body }) {
    const environment = await environmentNamedAgain(services, requester, params);
    return reply(200, { num_tasks: readSplit(environment, body.split).count });
  },
});

const getTask = route("POST", `${path}/:env_name/task`, {
  ...ofTasks,
  id: "getOpenEnvTask",
  summary: "Show one of OpenEnv's tasks",
  description: `Returns one task of a split. ${key}`,
  body: OrsTaskPlace,
  bodyExample: { split: "train", index: 0 },
  responses: {
    "200": response("The task", OpenEnvTaskResponse, { task, env_name: "kitchen" }),
    ...noSuchTask,
    ...noSuch("environment"),
  },
  async handle(services: { store: Store }, { requester, params, body }) {
    const environment = await environmentNamedAgain(services, requester, params);
    return reply(200, await showTask(services, requester, environment, body));
  },
});

const listTaskRange = route("POST", `${path}/:env_name/task_range`, {
  ...ofTasks,
  id: "listOpenEnvTaskRange",
  summary: "List part of OpenEnv's tasks",
  description: `Lists part of a split. Negative numbers count from its end. ${key}`,
  body: OrsTaskRange,
  bodyExample: { split: "train", start: 0, stop: 10 },
  responses: {
    "200": response("The tasks", OpenEnvTaskListResponse, { tasks: [task], env_name: "kitchen" }),
    ...noSuchSplit,
    ...noSuch("environment"),
  },
  async handle(services: TaskServices, { call, requester, params, body }) {
    return await streamTasks(services, call, await environmentNamedAgain(services, requester, params), body);
  },
});

const openSocket = hiddenRoute(
  { method: "GET", path: `${path}/ws`, access: "program", needs: "predict" },
  async (services: SocketServices, call) => {
    const wanted = readPath(call, EnvironmentPath).name;
    const requester = requesterOf(call);
    // As for starts of episodes: a batch opens all of its sockets at the same time.
    const release = await services.startTurns.take(requester.accountId, requester.signal);
    const { name } = await findEnvironment(services, requester, wanted).finally(release);
    return acceptSocket(services, call, { environment: name, path: `${path}/ws` });
  },
);

/** OpenEnv's server, as its client and its tools call it. */
export const openEnvRoutes = [
  getSchema,
  getMetadata,
  getHealth,
  getDescription,
  callMcp,
  listNames,
  listSplits,
  listTasks,
  countTasks,
  getTask,
  listTaskRange,
  openSocket,
];

/** The Task API repeats the environment's name in the path, because an OpenEnv server is one environment and has its name. */
async function environmentNamedAgain(
  services: { store: Store },
  requester: Requester,
  { name, env_name }: z.input<typeof OpenEnvTaskPath>,
): Promise<EnvironmentRevision> {
  if (env_name.toLowerCase() !== name) throw notFound("environment");
  return await findEnvironment(services, requester, name);
}
