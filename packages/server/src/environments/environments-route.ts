import {
  defaultRevisionLimit,
  defaultTaskLimit,
  Environment,
  EnvironmentConfig,
  EnvironmentCreateRequest,
  EnvironmentDeleteQuery,
  EnvironmentListQuery,
  EnvironmentListResponse,
  EnvironmentPath,
  EnvironmentRevisionListQuery,
  EnvironmentRevisionListResponse,
  type EnvironmentTask,
  isTrueWord,
  TaskLine,
  TaskListQuery,
  TaskListResponse,
  type TaskSplitName,
  TasksAdded,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import type { Services } from "../app/services.ts";
import { type CallWithCaller, requesterOf } from "../http/call.ts";
import {
  body,
  errorResponse,
  idempotencyHeader,
  noSuch,
  operation,
  page,
  pageTooLarge,
  response,
} from "../http/describe.ts";
import { reserveStored } from "../http/memory.ts";
import { readBody, readKeysetPage, readKnownQuery, readOnce, readPath, toCursor } from "../http/request.ts";
import { streamList } from "../http/response.ts";
import { type Route, withCaller } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { toIsoInstant } from "../platform/storage/columns.ts";
import type { EnvironmentRevision } from "./environment.ts";
import {
  createEnvironment,
  deleteEnvironment,
  findEnvironment,
  InvalidEnvironmentError,
  listEnvironmentRevisions,
  listEnvironments,
  measureEnvironmentRevisions,
  measureEnvironments,
  reviseEnvironment,
} from "./environments.ts";
import { addTasks, listTaskPage, readTasks } from "./tasks.ts";
import type { IndexedTask } from "./tasks-store.ts";

function toEnvironment({ name, revision, config, tasks, times }: EnvironmentRevision): Environment {
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

function toEnvironmentTask(split: TaskSplitName, { index, task }: IndexedTask): EnvironmentTask {
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

const path = "/v1/environments";

export function environmentRoutes(services: Services): Route[] {
  const { environments, settings } = services;
  const { maxBodyBytes, maxShortBodyBytes } = settings;
  const nameOf = (call: CallWithCaller) => readPath(call, EnvironmentPath).name;

  return [
    withCaller("GET", path, "read", async (call) => {
      const page = readKeysetPage(readKnownQuery(call, EnvironmentListQuery));
      reserveStored(call.exchange, await measureEnvironments(environments, requesterOf(call), page));
      const { environments: found, next } = await listEnvironments(environments, requesterOf(call), page);
      const response: EnvironmentListResponse = { data: found.map(toEnvironment), next: toCursor(next) };
      return Response.json(response);
    }),
    withCaller("POST", path, "evaluate", async (call) => {
      const body = await readBody(call, EnvironmentCreateRequest, maxShortBodyBytes);
      const { name, ...config } = body;
      const wanted = { name, config, userId: call.caller.userId };
      const once = readOnce(call, "create environment", body);
      const environment = await createEnvironment(environments, requesterOf(call), wanted, once).catch(
        toInvalidRequest,
      );
      return Response.json(toEnvironment(environment), { status: 201 });
    }),
    withCaller("GET", `${path}/:name`, "read", async (call) =>
      Response.json(toEnvironment(await findEnvironment(environments, requesterOf(call), nameOf(call)))),
    ),
    withCaller("PATCH", `${path}/:name`, "evaluate", async (call) => {
      const changes = await readBody(call, EnvironmentConfig, maxShortBodyBytes);
      const revised = reviseEnvironment(environments, requesterOf(call), nameOf(call), changes);
      return Response.json(toEnvironment(await revised.catch(toInvalidRequest)));
    }),
    withCaller("DELETE", `${path}/:name`, "evaluate", async (call) => {
      const name = nameOf(call);
      const query = readKnownQuery(call, EnvironmentDeleteQuery);
      const withEpisodes = isTrueWord(query.with_episodes ?? "false");
      await deleteEnvironment(environments, requesterOf(call), { name, withEpisodes });
      return new Response(null, { status: 204 });
    }),
    withCaller("GET", `${path}/:name/revisions`, "read", async (call) => {
      const { limit, after } = readKnownQuery(call, EnvironmentRevisionListQuery);
      const page = {
        limit: Number(limit ?? defaultRevisionLimit),
        below: after === undefined ? undefined : Number(after),
      };
      const [requester, name] = [requesterOf(call), nameOf(call)];
      const bytes = await measureEnvironmentRevisions(environments, requester, name, page);
      reserveStored(call.exchange, bytes);
      const { revisions, next } = await listEnvironmentRevisions(environments, requester, name, page);
      const response: EnvironmentRevisionListResponse = {
        data: revisions,
        next: next === undefined ? null : String(next),
      };
      return Response.json(response);
    }),
    withCaller("GET", `${path}/:name/tasks`, "read", async (call) => {
      const { split = "train", limit, after } = readKnownQuery(call, TaskListQuery);
      const from = Number(after ?? 0);
      const count = Number(limit ?? defaultTaskLimit);
      const wanted = { name: nameOf(call), split };
      const part = { from, limit: count };
      const { tasks, next } = await listTaskPage(environments, requesterOf(call), wanted, part);
      const name: keyof TaskListResponse = "data";
      return await streamList(
        services,
        call,
        name,
        tasks,
        (task) => JSON.stringify(toEnvironmentTask(split, task)),
        {
          next: next === undefined ? null : String(next),
        },
      );
    }),
    withCaller("POST", `${path}/:name/tasks`, "evaluate", async (call) => {
      const name = nameOf(call);
      const tasks = await readTasks(environments, call, maxBodyBytes);
      const once = readOnce(call, "add tasks", tasks);
      const { added, tasks: counts } = await addTasks(environments, requesterOf(call), name, tasks, once);
      const response: TasksAdded = { added: { ...added }, tasks: { ...counts } };
      return Response.json(response, { status: 201 });
    }),
  ];
}

function toInvalidRequest(error: unknown): never {
  if (!(error instanceof InvalidEnvironmentError)) throw error;
  throw new InvalidRequestError([valueError(["body", ...error.path], error.message)]);
}

const tag = "environments";
const builtIn = "The environment sandbox is built in and cannot be changed.";
const config: EnvironmentConfig = {
  description: "A kitchen, as qwen-wm knows it.",
  max_steps: 20,
  stop: [{ output_contains: "{goal}", outcome: "success" }],
  guards: { repeat_limit: 5 },
};
const example: Environment = {
  name: "kitchen",
  revision: 1,
  config,
  tasks: { train: 120, test: 30 },
  is_built_in: false,
  created_at: "2026-11-22T03:46:51.371Z",
  revised_at: "2026-11-22T03:46:51.371Z",
};
const line: TaskLine = {
  split: "train",
  initial_state: "You are in the kitchen. The stove is off.",
  prompt: "Turn on the stove.",
  goal: "The stove is on.",
};
const task: EnvironmentTask = {
  split: "train",
  index: 0,
  initial_state: line.initial_state,
  prompt: "Turn on the stove.",
  context: null,
  goal: "The stove is on.",
  metadata: null,
};
const requestParams = { path: EnvironmentPath };

export const environmentPaths: ZodOpenApiPathsObject = {
  "/v1/environments": {
    get: operation("listEnvironments", tag, "List environments", {
      description:
        "Lists the account's environments in their latest revisions, newest first, and at the end the built-in `sandbox`.",
      requestParams: { query: EnvironmentListQuery },
      responses: {
        "200": response("The environments", EnvironmentListResponse, page(example)),
        ...pageTooLarge,
      },
    }),
    post: operation("createEnvironment", tag, "Create an environment", {
      description:
        "Creates an environment that agents act in while a world model predicts what they see. It defines what predicts, when an episode ends, and what the reward is. Add tasks to it before its first episode.",
      requestParams: { header: idempotencyHeader },
      requestBody: body(EnvironmentCreateRequest, { name: "kitchen", ...config }),
      responses: {
        "201": response("The environment", Environment, { ...example, tasks: {} }),
        "400": errorResponse(
          "Paths of Presage begin with this name",
          "The name datasets is reserved: paths of Presage begin with it. Choose another one.",
        ),
        "409": errorResponse(
          "The account has an environment of this name",
          'There is already an environment named "kitchen".',
        ),
      },
    }),
  },
  "/v1/environments/{name}": {
    get: operation("getEnvironment", tag, "Show an environment", {
      description: "Returns an environment in its latest revision.",
      requestParams,
      responses: { "200": response("The environment", Environment, example), ...noSuch("environment") },
    }),
    patch: operation("reviseEnvironment", tag, "Revise an environment", {
      description:
        "Adds a revision in which the given fields are replaced and null ones removed. Started episodes keep their revision.",
      requestParams,
      requestBody: body(EnvironmentConfig, { max_steps: 40 }),
      responses: {
        "200": response("The new revision", Environment, {
          ...example,
          revision: 2,
          config: { ...config, max_steps: 40 },
        }),
        "409": errorResponse("The environment is built in", builtIn),
        ...noSuch("environment"),
      },
    }),
    delete: operation("deleteEnvironment", tag, "Delete an environment", {
      description: "Deletes an environment with all its revisions and tasks.",
      requestParams: { ...requestParams, query: EnvironmentDeleteQuery },
      responses: {
        "204": { description: "It is deleted." },
        "409": errorResponse(
          "The environment is built in, or it has episodes and with_episodes was not sent",
          "2 episodes of the environment would lose what they are about. Delete them first, or send with_episodes=true.",
        ),
        ...noSuch("environment"),
      },
    }),
  },
  "/v1/environments/{name}/revisions": {
    get: operation("listEnvironmentRevisions", tag, "List an environment's revisions", {
      description: "Returns the environment's definition in each of its revisions, highest number first.",
      requestParams: { ...requestParams, query: EnvironmentRevisionListQuery },
      responses: {
        "200": response("The revisions", EnvironmentRevisionListResponse, {
          data: [{ revision: 1, config, created_at: "2026-11-22T03:40:12.004Z" }],
          next: null,
        }),
        ...pageTooLarge,
        ...noSuch("environment"),
      },
    }),
  },
  "/v1/environments/{name}/tasks": {
    get: operation("listTasks", tag, "List tasks", {
      description: "Returns the tasks of one split, by index.",
      requestParams: { ...requestParams, query: TaskListQuery },
      responses: {
        "200": response("A page of tasks", TaskListResponse, page(task)),
        ...pageTooLarge,
        ...noSuch("environment"),
      },
    }),
    post: operation("addTasks", tag, "Add tasks", {
      description:
        "Appends tasks to their splits: a task on each line of the body, of at most 100,000, or, with one line that has a `dataset_id` (and a `revision` and `split`, if wanted), the first state of each trajectory of that dataset. All are added or none.",
      requestParams: { ...requestParams, header: idempotencyHeader },
      requestBody: {
        required: true,
        description: "One JSON object a line.",
        content: { "application/x-ndjson": { schema: TaskLine, example: line } },
      },
      responses: {
        "201": response("How many tasks there are now", TasksAdded, {
          added: { train: 1 },
          tasks: { train: 121, test: 30 },
        }),
        "409": errorResponse("The environment is built in", builtIn),
        "404": errorResponse(
          "The account has no such environment, or no such dataset",
          "There is no such environment.",
        ),
      },
    }),
  },
};
