import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type DatasetSample,
  type OrsTaskPlace,
  type OrsTaskRange,
  TaskLine,
  TaskSplitName,
  TasksFromDataset,
} from "@presage/contract";
import type { z } from "zod";
import { exportSamples } from "../datasets/samples.ts";
import { type CallWithCaller, keepOpen, keepOpenForEach, requesterOf } from "../http/call.ts";
import type { HttpServices } from "../http/exchange.ts";
import { reservePiece } from "../http/memory.ts";
import { readBodyBytes, readJsonBytes } from "../http/request.ts";
import { logBrokenResponse, streamTexts } from "../http/response.ts";
import { InvalidRequestError, validate, valueError } from "../http/validate.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { notFound, ServiceError } from "../platform/errors.ts";
import { type Pieces, readInPieces, readListed, refuseLargePage } from "../platform/storage/lists.ts";
import { doOnce, type Once, recallEarlier } from "../platform/storage/once.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { countOf } from "../platform/words.ts";
import {
  type EnvironmentRevision,
  type IndexedTask,
  sandboxName,
  sandboxTasks,
  type TaskCounts,
} from "./environment.ts";
import {
  insertTasks,
  lockEnvironment,
  selectTaskSizes,
  selectTasks,
  type TaskPart,
  updateTaskCounts,
} from "./environments-store.ts";
import { findEnvironment, refuseBuiltIn } from "./find-environment.ts";

/** Clients draw from a split of many tasks rather than list it. */
const maxTasks = 1_000_000;

interface NewTask {
  split: TaskSplitName;
  /** JSON text, because its objects would take a hundred times the memory. */
  task: string;
}

interface AddedTasks {
  added: TaskCounts;
  tasks: TaskCounts;
}

/** Tasks, or the dataset whose trajectories become tasks. */
type GivenTasks = readonly NewTask[] | TasksFromDataset;

/** Appends tasks to the splits of an environment: all or none. `reserve` gets the number of characters of a dataset's tasks. */
export async function addTasks(
  { store }: { store: Store },
  requester: Changer,
  { name, given, reserve }: { name: string; given: GivenTasks; reserve: (characters: number) => void },
  once?: Once,
): Promise<AddedTasks> {
  refuseBuiltIn(name);
  const recall = async (done: AddedTasks) => done;
  const earlier = await recallEarlier(store.database, once, recall);
  if (earlier !== undefined) return earlier;
  const newTasks =
    "dataset_id" in given ? await readFromDataset({ store }, requester, given, reserve) : given;
  return await doOnce(store.writer(requester), once, {
    async work(transaction) {
      const environment = await lockEnvironment(transaction, requester.accountId, name);
      if (environment === undefined) throw notFound("environment");
      const tasks = JSON.parse(environment.tasks) as TaskCounts;
      const added: TaskCounts = {};
      const rows = newTasks.map(({ split, task }) => {
        const position = tasks[split] ?? 0;
        tasks[split] = position + 1;
        added[split] = (added[split] ?? 0) + 1;
        return { environment_id: environment.id, split, position, task };
      });
      if (Object.values(tasks).some((count) => count > maxTasks)) throw tooManyTasks();
      await insertTasks(transaction, rows);
      await updateTaskCounts(transaction, environment.id, tasks);
      await recordChange(transaction, requester, "environment.add_tasks", environment.id, { name, ...added });
      return { added, tasks };
    },
    toReceipt: (done) => done,
    recall,
  });
}

function tooManyTasks(): ServiceError {
  return new ServiceError("quota_exceeded", `A split of an environment has at most ${maxTasks} tasks.`);
}

/** A split's tasks from an index on, in order. */
export async function listTasks(
  services: { store: Store },
  requester: Requester,
  { environment, split }: { environment: EnvironmentRevision; split: TaskSplitName },
  part: TaskPart,
): Promise<IndexedTask[]> {
  if (environment.name === sandboxName) return sandboxTasks(split).slice(part.from, part.from + part.limit);
  return await selectTasks(services.store.briefReader(requester), environment.id, split, part);
}

/** One page of a split's tasks, and the index of the next page. */
export async function listTaskPage(
  services: { store: Store },
  requester: Requester,
  { name, split }: { name: string; split: TaskSplitName },
  part: TaskPart,
): Promise<{ tasks: Pieces<IndexedTask>; next: number | undefined }> {
  const environment = await findEnvironment(services, requester, name);
  const tasks = await readTasksInPieces(services, requester, { environment, split }, part, (sizes) =>
    refuseLargePage(sizes, "tasks"),
  );
  const end = part.from + part.limit;
  return { tasks, next: end < (environment.tasks[split] ?? 0) ? end : undefined };
}

/** A split's tasks from an index on, in order; each may have megabytes. Throws if the environment is deleted meanwhile. */
export async function readTasksInPieces(
  { store }: { store: Store },
  requester: Requester,
  { environment, split }: { environment: Pick<EnvironmentRevision, "id" | "tasks">; split: TaskSplitName },
  { from, limit }: TaskPart,
  check: (sizes: readonly { bytes: number }[]) => unknown = () => {},
): Promise<Pieces<IndexedTask>> {
  const { id } = environment;
  if (id === sandboxName) {
    const tasks = sandboxTasks(split).slice(from, from + limit);
    return readInPieces(tasks, new Map(), async (some) => [...some]);
  }
  const reader = store.briefReader(requester);
  const sizes = await selectTaskSizes(reader, id, split, { from, limit });
  const expected = Math.min(limit, Math.max((environment.tasks[split] ?? 0) - from, 0));
  if (sizes.length < expected) throw notFound("environment");
  check(sizes);
  return readListed(sizes, indexOf, async (some) => {
    const tasks = await selectTasks(reader, id, split, { from: some[0]?.index ?? from, limit: some.length });
    if (tasks.length < some.length) throw notFound("environment");
    return tasks;
  });
}

const indexOf = ({ index }: { index: number }) => index;

// The splits and tasks of an environment. The Open Reward Standard and OpenEnv's Task API request them in the same way.

/** The splits that have tasks, in the form that clients read. */
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

/** All tasks of a split, or a range of them. */
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

/** Also used for a task that was deleted after the environment was read. */
function noSuchTask({ name, tasks }: Pick<EnvironmentRevision, "name" | "tasks">, split: TaskSplitName) {
  return new ServiceError(
    "bad_request",
    `Invalid index: the split ${split} of the environment ${name} has ${countOf(tasks[split] ?? 0, "task")}, counted from 0.`,
  );
}

function splitsOf({ tasks }: Pick<EnvironmentRevision, "tasks">): TaskSplitName[] {
  return TaskSplitName.options.filter((split) => (tasks[split] ?? 0) > 0);
}

/** The fields that a client starts the task with and may choose tasks by. The prompt is what the agent sees first. */
function toTaskSpec(split: TaskSplitName, { index, task: { prompt, goal, metadata } }: IndexedTask) {
  return { split, index, prompt: prompt ?? null, goal: goal ?? null, metadata: metadata ?? null };
}

/** A bound of a range as in Python: counted from the end if negative. */
function within(bound: number, count: number): number {
  return Math.min(Math.max(bound < 0 ? count + bound : bound, 0), count);
}

const defaultSplit = "train";

/** A body of empty lines must not take long. */
const maxLines = 100_000;

/** Reading this much takes milliseconds, whatever it contains; then other requests get a turn. */
const charactersAtOnce = 64 * 1024;

/** The tasks in a request's body: a task on each line, or a dataset whose trajectories become tasks. */
export async function readTasks(call: CallWithCaller, maxBodyBytes: number): Promise<GivenTasks> {
  const lines = (await readText(call, maxBodyBytes)).trimEnd().split("\n", maxLines + 1);
  const isAlone = lines.filter((line) => line.trim() !== "").length === 1;
  if (lines.length > maxLines)
    throw new InvalidRequestError([valueError(["body"], `Send at most ${maxLines} lines at once`)]);
  const tasks: NewTask[] = [];
  let characters = 0;
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const { plain, exact } = await readJsonBytes(Buffer.from(line)).catch(atLine(index + 1));
    if (isAlone && isDataset(plain)) return validate(TasksFromDataset, plain, "body");
    tasks.push(readTask(plain, exact, index + 1));
    characters += line.length;
    if (characters < charactersAtOnce) continue;
    characters = 0;
    await nextTurn();
  }
  if (tasks.length === 0)
    throw new InvalidRequestError([valueError(["body"], "Send a task on each line, as JSON")]);
  return tasks;
}

/** A task for each trajectory of a dataset, from its first state: that of its lowest step, as samples may be in any order. */
async function readFromDataset(
  services: { store: Store },
  requester: Requester,
  { dataset_id: id, revision, split }: TasksFromDataset,
  reserve: (characters: number) => void,
): Promise<NewTask[]> {
  const first = new Map<string, { step: number; task: NewTask }>();
  let held = 0;
  for await (const lines of await exportSamples(services, requester, { id, number: revision ?? undefined })) {
    for (const line of lines) {
      const { trajectory_id, step, interaction, context, tags } = JSON.parse(line) as DatasetSample;
      if (interaction === undefined || step >= (first.get(trajectory_id)?.step ?? Infinity)) continue;
      // They let worlds leave out the records that belong to the task.
      const metadata = { trajectory_id, ...(tags && { tags }) };
      const task = toNewTask({ split, initial_state: interaction.state, context, metadata });
      first.set(trajectory_id, { step, task });
      held += line.length;
      if (first.size > maxTasks) throw tooManyTasks();
    }
    reserve(held);
  }
  if (first.size === 0) {
    const reason = "No trajectory begins with a state: a conversation has none";
    throw new InvalidRequestError([valueError(["body", "dataset_id"], reason)]);
  }
  return Array.from(first.values(), ({ task }) => task);
}

function isDataset(value: unknown): boolean {
  return typeof value === "object" && value !== null && "dataset_id" in value;
}

async function readText(call: CallWithCaller, maxBodyBytes: number): Promise<string> {
  const bytes = await readBodyBytes(call, maxBodyBytes);
  keepOpen(call);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new InvalidRequestError([valueError(["body"], "The body is not UTF-8")]);
  }
}

function readTask(plain: unknown, exact: unknown, line: number): NewTask {
  try {
    validate(TaskLine, plain ?? null, "body");
  } catch (error) {
    atLine(line)(error);
  }
  return toNewTask(exact as TaskLine);
}

function toNewTask({ split, ...task }: TaskLine): NewTask {
  return { split: split ?? defaultSplit, task: JSON.stringify(task) };
}

function atLine(number: number): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof InvalidRequestError)) throw error;
    throw new InvalidRequestError(
      error.issues.map((issue) =>
        issue.type === "json_invalid"
          ? valueError(["body", "line", number], `Not JSON: ${issue.ctx?.error}`)
          : { ...issue, loc: ["body", "line", number, ...issue.loc.slice(1)] },
      ),
    );
  };
}
