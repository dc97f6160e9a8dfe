import {
  defaultRevisionLimit,
  defaultTaskLimit,
  Environment,
  EnvironmentConfig,
  EnvironmentCreateRequest,
  EnvironmentDeleteQuery,
  EnvironmentDetail,
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
import { errorResponse, idempotencyHeader, noSuch, page, pageTooLarge, response } from "../http/describe.ts";
import type { HttpServices } from "../http/exchange.ts";
import { reserveHeld, reserveStored } from "../http/memory.ts";
import { readKeysetPage, readNumberedPage, readOnce, toCursor } from "../http/request.ts";
import { streamList } from "../http/response.ts";
import { reply, route } from "../http/route.ts";
import { isoInstantOrNull } from "../platform/storage/columns.ts";
import type { EnvironmentRevision, IndexedTask } from "./environment.ts";
import {
  type ConfigServices,
  createEnvironment,
  deleteEnvironment,
  listEnvironmentRevisions,
  reviseEnvironment,
} from "./environments.ts";
import examples from "./examples.json" with { type: "json" };
import { findEnvironment, listEnvironments, type RealityServices } from "./find-environment.ts";
import { addTasks, listTaskPage, readTasks } from "./tasks.ts";

interface Services extends ConfigServices, HttpServices {
  knownEpisodes: { forget(id: string): void };
}

const builtIn = "The environment sandbox is built in and cannot be changed.";
const { config } = examples.environment;

const createEnvironmentRoute = route("POST", "/v1/environments", {
  needs: "evaluate",
  id: "createEnvironment",
  summary: "Create an environment",
  description:
    "Creates an environment that agents act in while a world model predicts what they see. It defines what predicts, when an episode ends, and what the reward is. Add tasks to it before its first episode.",
  body: EnvironmentCreateRequest,
  bodyExample: { name: "kitchen", ...config },
  isExact: true,
  once: "create environment",
  responses: {
    "201": response("The environment", Environment, { ...examples.environment, tasks: {} }),
    "400": errorResponse(
      "Paths of Presage begin with this name",
      "The name datasets is reserved: paths of Presage begin with it. Choose another one.",
    ),
    "409": errorResponse(
      "The account has an environment of this name",
      'There is already an environment named "kitchen".',
    ),
  },
  async handle(services: Services, { call, requester, body: { name, ...config }, once }) {
    const wanted = { name, config, userId: call.caller.userId };
    const environment = await createEnvironment(services, requester, wanted, once);
    return reply(201, toEnvironment(environment));
  },
});

const listEnvironmentsRoute = route("GET", "/v1/environments", {
  needs: "read",
  id: "listEnvironments",
  summary: "List environments",
  description:
    "Lists the account's environments in their latest revisions, newest first, and at the end the built-in `sandbox`.",
  query: EnvironmentListQuery,
  responses: {
    "200": response("The environments", EnvironmentListResponse, page(examples.environment)),
    ...pageTooLarge,
  },
  async handle(services: Services, { call, requester, query }) {
    const page = readKeysetPage(query);
    const reserve = (bytes: number) => reserveStored(call.exchange, bytes);
    const { environments, next } = await listEnvironments(services, requester, page, reserve);
    return reply(200, { data: environments.map(toEnvironment), next: toCursor(next) });
  },
});

const getEnvironment = route("GET", "/v1/environments/:name", {
  needs: "read",
  id: "getEnvironment",
  summary: "Show an environment",
  description: "Returns an environment in its latest revision.",
  params: EnvironmentPath,
  responses: {
    "200": response("The environment", EnvironmentDetail, { ...examples.environment, reality: null }),
    ...noSuch("environment"),
  },
  async handle(services: Services & RealityServices, { requester, params: { name } }) {
    const environment = await findEnvironment(services, requester, name);
    const reality = (await services.realityOf(requester, environment, 0)) ?? null;
    return reply(200, { ...toEnvironment(environment), reality });
  },
});

const reviseEnvironmentRoute = route("PATCH", "/v1/environments/:name", {
  needs: "evaluate",
  id: "reviseEnvironment",
  summary: "Revise an environment",
  description:
    "Adds a revision in which the given fields are replaced and null ones removed. Started episodes keep their revision.",
  params: EnvironmentPath,
  body: EnvironmentConfig,
  bodyExample: { max_steps: 40 },
  isExact: true,
  responses: {
    "200": response("The new revision", Environment, {
      ...examples.environment,
      revision: 2,
      config: { ...config, max_steps: 40 },
    }),
    "409": errorResponse("The environment is built in", builtIn),
    ...noSuch("environment"),
  },
  async handle(services: Services, { requester, params: { name }, body }) {
    return reply(200, toEnvironment(await reviseEnvironment(services, requester, name, body)));
  },
});

const deleteEnvironmentRoute = route("DELETE", "/v1/environments/:name", {
  needs: "evaluate",
  id: "deleteEnvironment",
  summary: "Delete an environment",
  description: "Deletes an environment with all its revisions and tasks.",
  params: EnvironmentPath,
  query: EnvironmentDeleteQuery,
  responses: {
    "204": { description: "It is deleted." },
    "409": errorResponse(
      "The environment is built in, or it has episodes and with_episodes was not sent",
      "The environment has 2 episodes. Delete its episodes first, or send with_episodes=true.",
    ),
    ...noSuch("environment"),
  },
  async handle(services: Services, { requester, params: { name }, query }) {
    const withEpisodes = isTrueWord(query.with_episodes ?? "false");
    await deleteEnvironment(services, requester, { name, withEpisodes });
    return reply(204, undefined);
  },
});

const listRevisions = route("GET", "/v1/environments/:name/revisions", {
  needs: "read",
  id: "listEnvironmentRevisions",
  summary: "List an environment's revisions",
  description: "Returns the environment's definition in each of its revisions, highest number first.",
  params: EnvironmentPath,
  query: EnvironmentRevisionListQuery,
  responses: {
    "200": response("The revisions", EnvironmentRevisionListResponse, {
      data: [{ revision: 1, config, created_at: "2026-11-22T03:40:12.004Z" }],
      next: null,
    }),
    ...pageTooLarge,
    ...noSuch("environment"),
  },
  async handle(services: Services, { call, requester, params: { name }, query }) {
    const page = readNumberedPage(query, defaultRevisionLimit);
    const reserve = (bytes: number) => reserveStored(call.exchange, bytes);
    return reply(200, await listEnvironmentRevisions(services, requester, name, page, reserve));
  },
});

const listTasksRoute = route("GET", "/v1/environments/:name/tasks", {
  needs: "read",
  id: "listTasks",
  summary: "List tasks",
  description: "Returns the tasks of one split, by index.",
  params: EnvironmentPath,
  query: TaskListQuery,
  responses: {
    "200": response("A page of tasks", TaskListResponse, page(examples.task)),
    ...pageTooLarge,
    ...noSuch("environment"),
  },
  async handle(services: Services, { call, requester, params: { name }, query }) {
    const { split = "train", limit, after } = query;
    const part = { from: Number(after ?? 0), limit: Number(limit ?? defaultTaskLimit) };
    const { tasks, next } = await listTaskPage(services, requester, { name, split }, part);
    const data: keyof TaskListResponse = "data";
    const write = (task: IndexedTask) => JSON.stringify(toEnvironmentTask(split, task));
    return await streamList(services, call, data, tasks, write, {
      next: next === undefined ? null : String(next),
    });
  },
});

const addTasksRoute = route("POST", "/v1/environments/:name/tasks", {
  needs: "evaluate",
  id: "addTasks",
  summary: "Add tasks",
  description:
    "Appends tasks to their splits: one task per line of the body, at most 100,000, or, with one line that has a `dataset_id` (and a `revision` and `split`, if wanted), the first state of each trajectory of that dataset. All are added or none.",
  params: EnvironmentPath,
  more: {
    requestParams: { path: EnvironmentPath, header: idempotencyHeader },
    requestBody: {
      required: true,
      description: "One JSON object per line.",
      content: { "application/x-ndjson": { schema: TaskLine, example: examples.taskLine } },
    },
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
  async handle(services: Services, { call, requester, params: { name } }) {
    const given = await readTasks(call, services.settings.maxBodyBytes);
    const once = readOnce(call, "add tasks", given);
    const reserve = (characters: number) => reserveHeld(call.exchange, characters);
    const { added, tasks } = await addTasks(services, requester, { name, given, reserve }, once);
    return reply(201, { added: { ...added }, tasks: { ...tasks } });
  },
});

export const environmentRoutes = [
  createEnvironmentRoute,
  listEnvironmentsRoute,
  getEnvironment,
  reviseEnvironmentRoute,
  deleteEnvironmentRoute,
  listRevisions,
  listTasksRoute,
  addTasksRoute,
];

function toEnvironment({ name, revision, config, tasks, ...row }: EnvironmentRevision): Environment {
  return {
    name,
    revision,
    config,
    tasks: { ...tasks },
    is_built_in: row.created_at === null,
    created_at: isoInstantOrNull(row.created_at),
    revised_at: isoInstantOrNull(row.revised_at),
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
