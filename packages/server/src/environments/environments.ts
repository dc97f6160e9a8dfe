import {
  defaultRevisionLimit,
  defaultTaskLimit,
  EnvironmentConfig,
  EnvironmentCreateRequest,
  EnvironmentDeleteQuery,
  EnvironmentListQuery,
  type EnvironmentListResponse,
  EnvironmentPath,
  EnvironmentRevisionListQuery,
  type EnvironmentRevisionListResponse,
  isTrueWord,
  TaskListQuery,
  type TaskListResponse,
  type TasksAdded,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import { readKeysetPage, toCursor } from "../http/list-cursor.ts";
import { valueError } from "../http/pydantic-issues.ts";
import { readBody, readKnownQuery, readOnce, readPath } from "../http/read-request.ts";
import { requesterOf } from "../http/requester-of.ts";
import { reserveStored } from "../http/reserve-memory.ts";
import { type CallWithCaller, type Route, withCaller } from "../http/route.ts";
import { streamList } from "../http/stream-list.ts";
import { InvalidRequestError } from "../http/validate.ts";
import { addTasks } from "./add-tasks.ts";
import { InvalidEnvironmentError } from "./check-config.ts";
import { createEnvironment } from "./create-environment.ts";
import { deleteEnvironment } from "./delete-environment.ts";
import { toEnvironment, toEnvironmentTask } from "./environment-response.ts";
import { findEnvironment } from "./find-environment.ts";
import { listEnvironmentRevisions, measureEnvironmentRevisions } from "./list-environment-revisions.ts";
import { listEnvironments, measureEnvironments } from "./list-environments.ts";
import { readTasks } from "./read-tasks.ts";
import { listTaskPage } from "./read-tasks-in-pieces.ts";
import { reviseEnvironment } from "./revise-environment.ts";

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
