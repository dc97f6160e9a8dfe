import { OrsSplit, OrsTaskPlace, OrsTaskRange, orsText, type TaskSplitName } from "@presage/contract";
import type { Services } from "../../app/services.ts";
import { type CallWithCaller, keepOpenForEach, requesterOf } from "../../http/call.ts";
import { reservePiece } from "../../http/memory.ts";
import { readBody } from "../../http/request.ts";
import { eventStreamHeaders, logBrokenResponse, streamTexts } from "../../http/response.ts";
import type { Route } from "../../http/route.ts";
import type { EnvironmentRevision } from "../environment.ts";
import { findEnvironment } from "../environments.ts";
import { listTasks, readTasksInPieces } from "../tasks.ts";
import type { IndexedTask } from "../tasks-store.ts";
import {
  createSession,
  deleteSession,
  listAllEnvironments,
  noSuchTask,
  openSession,
  pingSession,
  readSplit,
  readTaskIndex,
  splitsOf,
  storedIdOf,
} from "./ors-sessions.ts";
import {
  apiKeyIdOf,
  readEnvironmentName,
  readSessionId,
  readWantedSession,
  toEvent,
  toPlay,
  withEnvironment,
} from "./protocol.ts";
import { toolOf } from "./take-call.ts";

const tasksAtOnce = 500;

/** A question about the tasks of an environment, at a path below that of the environment. */
export interface TaskHandler {
  method: "GET" | "POST";
  path: string;
  handle(call: CallWithCaller): Promise<Response>;
}

/** The splits and tasks of an environment. The Open Reward Standard and OpenEnv's Task API request them alike. */
export function taskHandlers(
  services: Services,
  environmentOf: (call: CallWithCaller) => Promise<EnvironmentRevision>,
): TaskHandler[] {
  const { environments, settings } = services;
  const { maxShortBodyBytes } = settings;

  async function streamTasks(
    call: CallWithCaller,
    wanted: { environment: EnvironmentRevision; split: TaskSplitName; from: number; to: number },
  ): Promise<Response> {
    async function* texts(): AsyncGenerator<string, void> {
      let before = `{"tasks":[`;
      for (let from = wanted.from; from < wanted.to; from += tasksAtOnce) {
        const limit = Math.min(tasksAtOnce, wanted.to - from);
        const pieces = await readTasksInPieces(environments, requesterOf(call), wanted, { from, limit });
        for await (const tasks of pieces.read()) {
          yield before + tasks.map((task) => JSON.stringify(toTaskSpec(wanted.split, task))).join(",");
          before = ",";
        }
      }
      yield `${before === "," ? "" : before}],"env_name":${JSON.stringify(wanted.environment.name)}}`;
    }
    reservePiece(call.exchange);
    const body = await streamTexts(keepOpenForEach(call, texts()), logBrokenResponse(services, call));
    return new Response(body, { headers: { "content-type": "application/json;charset=utf-8" } });
  }

  return [
    {
      method: "GET",
      path: "/splits",
      handle: async (call) =>
        Response.json(splitsOf(await environmentOf(call)).map((split) => ({ name: split, type: split }))),
    },
    {
      method: "POST",
      path: "/tasks",
      handle: async (call) => {
        const body = await readBody(call, OrsSplit, maxShortBodyBytes);
        const environment = await environmentOf(call);
        const { split, count } = readSplit(environment, body.split);
        return await streamTasks(call, { environment, split, from: 0, to: count });
      },
    },
    {
      method: "POST",
      path: "/num_tasks",
      handle: async (call) => {
        const body = await readBody(call, OrsSplit, maxShortBodyBytes);
        return Response.json({ num_tasks: readSplit(await environmentOf(call), body.split).count });
      },
    },
    {
      method: "POST",
      path: "/task",
      handle: async (call) => {
        const body = await readBody(call, OrsTaskPlace, maxShortBodyBytes);
        const environment = await environmentOf(call);
        const { split, index } = readTaskIndex(environment, body);
        const part = { from: index, limit: 1 };
        const [task] = await listTasks(environments, requesterOf(call), { environment, split }, part);
        if (task === undefined) throw noSuchTask(environment, split);
        return Response.json({ task: toTaskSpec(split, task), env_name: environment.name });
      },
    },
    {
      method: "POST",
      path: "/task_range",
      handle: async (call) => {
        const { start, stop, ...body } = await readBody(call, OrsTaskRange, maxShortBodyBytes);
        const environment = await environmentOf(call);
        const { split, count } = readSplit(environment, body.split);
        const from = within(start ?? 0, count);
        const to = within(stop ?? count, count);
        return await streamTasks(call, { environment, split, from, to });
      },
    },
  ];
}

/** What a client sends back to start the task, and what it may choose tasks by. What the agent sees first is in the prompt. */
function toTaskSpec(split: TaskSplitName, { index, task: { prompt, goal, metadata } }: IndexedTask) {
  return { split, index, prompt: prompt ?? null, goal: goal ?? null, metadata: metadata ?? null };
}

/** A bound of a range as Python reads it: from the end if negative. */
function within(bound: number, count: number): number {
  return Math.min(Math.max(bound < 0 ? count + bound : bound, 0), count);
}

/** What there is to play, for clients of the Open Reward Standard. */
export function orsCatalogRoutes(services: Services): Route[] {
  const { environments } = services;
  const environmentOf = (call: CallWithCaller) =>
    findEnvironment(environments, requesterOf(call), readEnvironmentName(call));

  return [
    toPlay("GET", "/list_environments", async (call) => {
      const names: string[] = [];
      for await (const { name } of listAllEnvironments(environments, requesterOf(call))) names.push(name);
      return Response.json(names);
    }),
    ...withEnvironment("GET", "/tools", async (call) => Response.json(toTools(await environmentOf(call)))),
    ...taskHandlers(services, environmentOf).flatMap(({ method, path, handle }) =>
      withEnvironment(method, path, handle),
    ),
  ];
}

/** The tool that agents act with. A task has none of its own. */
function toTools({ config }: Pick<EnvironmentRevision, "config">) {
  const { name, description, argument } = toolOf(config);
  const properties = { [argument]: { type: "string", description: "What to do, in words." } };
  const input_schema = { type: "object", properties, required: [argument], additionalProperties: false };
  return { tools: [{ name, description, input_schema }] };
}

/** Sessions of the Open Reward Standard: each plays one episode, which has the same id. */
export function orsSessionRoutes({ environments, settings }: Services): Route[] {
  const open = (call: CallWithCaller) =>
    openSession(environments, requesterOf(call), {
      sessionId: readSessionId(call),
      environment: readEnvironmentName(call),
      apiKeyId: apiKeyIdOf(call),
    });

  return [
    // Nothing is stored: clients make a session for every question about tasks, and most are never created.
    toPlay("POST", "/create_session", ({ caller }) => {
      const id = environments.ors.ids.newSession(caller.accountId);
      return new Response(toEvent("task_id", id) + toEvent("end", ""), { headers: eventStreamHeaders });
    }),
    toPlay("POST", "/delete_session", (call) => {
      const sid = readSessionId(call);
      storedIdOf(environments, requesterOf(call), sid);
      return Response.json({ sid });
    }),
    toPlay("POST", "/create", async (call) => {
      const sid = readSessionId(call);
      const wanted = await readWantedSession(call, settings.maxShortBodyBytes);
      const apiKeyId = apiKeyIdOf(call);
      await createSession(environments, requesterOf(call), { sessionId: sid, apiKeyId, ...wanted });
      return Response.json({ sid });
    }),
    toPlay("POST", "/delete", async (call) => {
      const sid = readSessionId(call);
      await deleteSession(environments, requesterOf(call), sid);
      return Response.json({ sid });
    }),
    toPlay("POST", "/ping", async (call) => {
      await pingSession(environments, requesterOf(call), readSessionId(call));
      return Response.json({ status: "ok" });
    }),
    ...withEnvironment("GET", "/prompt", async (call) => {
      const { task } = (await open(call)).episode;
      const text = task.prompt ? `${task.prompt}\n\n${task.initial_state}` : task.initial_state;
      return Response.json([orsText(text)]);
    }),
    ...withEnvironment("GET", "/task_tools", async (call) =>
      Response.json(toTools((await open(call)).episode)),
    ),
  ];
}
