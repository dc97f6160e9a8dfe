import { type OrsTaskPlace, type OrsTaskRange, TaskSplitName } from "@presage/contract";
import type { z } from "zod";
import { type CallWithCaller, keepOpenForEach, requesterOf } from "../../http/call.ts";
import type { HttpServices } from "../../http/exchange.ts";
import { reservePiece } from "../../http/memory.ts";
import { logBrokenResponse, streamTexts } from "../../http/response.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { countOf } from "../../platform/words.ts";
import type { EnvironmentRevision, IndexedTask } from "../environment.ts";
import { listTasks, readTasksInPieces } from "../tasks.ts";

// The splits and tasks of an environment. The Open Reward Standard and OpenEnv's Task API request them alike.

/** The splits with tasks, as clients read them. */
export function showSplits(environment: EnvironmentRevision): { name: TaskSplitName; type: TaskSplitName }[] {
  return splitsOf(environment).map((split) => ({ name: split, type: split }));
}

/** A task of a split. */
export async function showTask(
  services: { store: Store },
  requester: Requester,
  environment: EnvironmentRevision,
  place: z.input<typeof OrsTaskPlace>,
) {
  const { split, index } = readTaskIndex(environment, place);
  const part = { from: index, limit: 1 };
  const [task] = await listTasks(services, requester, { environment, split }, part);
  if (task === undefined) throw noSuchTask(environment, split);
  return { task: toTaskSpec(split, task), env_name: environment.name };
}

const tasksAtOnce = 500;

/** The tasks of a split, or part of them. */
export async function streamTasks(
  services: { store: Store; log: HttpServices["log"] },
  call: CallWithCaller,
  environment: EnvironmentRevision,
  { split: name, start, stop }: z.input<typeof OrsTaskRange>,
): Promise<Response> {
  const { split, count } = readSplit(environment, name);
  const to = within(stop ?? count, count);
  async function* texts(): AsyncGenerator<string, void> {
    let before = `{"tasks":[`;
    for (let from = within(start ?? 0, count); from < to; from += tasksAtOnce) {
      const part = { from, limit: Math.min(tasksAtOnce, to - from) };
      const pieces = await readTasksInPieces(services, requesterOf(call), { environment, split }, part);
      for await (const tasks of pieces.read()) {
        yield before + tasks.map((task) => JSON.stringify(toTaskSpec(split, task))).join(",");
        before = ",";
      }
    }
    yield `${before === "," ? "" : before}],"env_name":${JSON.stringify(environment.name)}}`;
  }
  reservePiece(call.exchange);
  const body = await streamTexts(keepOpenForEach(call, texts()), logBrokenResponse(services, call));
  return new Response(body, { headers: { "content-type": "application/json;charset=utf-8" } });
}

/** What a client sends back to start the task, and what it may choose tasks by. What the agent sees first is in the prompt. */
function toTaskSpec(split: TaskSplitName, { index, task: { prompt, goal, metadata } }: IndexedTask) {
  return { split, index, prompt: prompt ?? null, goal: goal ?? null, metadata: metadata ?? null };
}

/** A bound of a range as Python reads it: from the end if negative. */
function within(bound: number, count: number): number {
  return Math.min(Math.max(bound < 0 ? count + bound : bound, 0), count);
}

function splitsOf({ tasks }: Pick<EnvironmentRevision, "tasks">): TaskSplitName[] {
  return TaskSplitName.options.filter((split) => (tasks[split] ?? 0) > 0);
}

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
function noSuchTask({ name, tasks }: Pick<EnvironmentRevision, "name" | "tasks">, split: TaskSplitName) {
  return new ServiceError(
    "bad_request",
    `Invalid index: the split ${split} of the environment ${name} has ${countOf(tasks[split] ?? 0, "task")}, counted from 0.`,
  );
}
