import { OrsSplit, OrsTaskPlace, OrsTaskRange, type TaskSplitName } from "@presage/contract";
import type { Services } from "../../app/services.ts";
import { keepOpenForEach } from "../../http/keep-open.ts";
import { logBrokenResponse } from "../../http/log-broken-response.ts";
import { readBody } from "../../http/read-request.ts";
import { requesterOf } from "../../http/requester-of.ts";
import { reservePiece } from "../../http/reserve-memory.ts";
import type { CallWithCaller } from "../../http/route.ts";
import { streamTexts } from "../../http/stream-texts.ts";
import type { EnvironmentRevision } from "../environment.ts";
import { listTasks } from "../list-tasks.ts";
import { readTasksInPieces } from "../read-tasks-in-pieces.ts";
import type { IndexedTask } from "../tasks-store.ts";
import { noSuchTask, readSplit, readTaskIndex, splitsOf } from "./splits.ts";

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
