import { setImmediate as nextTurn } from "node:timers/promises";
import { type Context, type DatasetSample, TaskLine, TasksFromDataset } from "@presage/contract";
import { exportSamples } from "../datasets/samples.ts";
import { type CallWithCaller, keepOpen, requesterOf } from "../http/call.ts";
import { readBodyBytes, readJsonBytes } from "../http/request.ts";
import { InvalidRequestError, validate, valueError } from "../http/validate.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import type { Task } from "./environment.ts";
import type { NewTask } from "./tasks.ts";

const defaultSplit = "train";
/** A body of empty lines must not take long. */
const maxLines = 100_000;
/** That much is read within milliseconds, whatever it contains; then other requests are served. */
const charactersAtOnce = 64 * 1024;

/** A trajectory's first state. */
interface FirstState {
  trajectoryId: string;
  state: string;
  context: Context | undefined;
  tags: DatasetSample["tags"];
}

/** The tasks in a request's body: a task on each line, or a dataset whose trajectories become tasks. */
export async function readTasks(
  services: { store: Store },
  call: CallWithCaller,
  maxBodyBytes: number,
): Promise<NewTask[]> {
  const lines = (await readText(call, maxBodyBytes)).trimEnd().split("\n", maxLines + 1);
  const isAlone = lines.filter((line) => line.trim() !== "").length === 1;
  if (lines.length > maxLines)
    throw new InvalidRequestError([valueError(["body"], `Send at most ${maxLines} lines at once`)]);
  const tasks: NewTask[] = [];
  let characters = 0;
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const { plain, exact } = await readJsonBytes(Buffer.from(line)).catch(atLine(index + 1));
    if (isAlone && isDataset(plain))
      return await readFromDataset(services, call, validate(TasksFromDataset, plain, "body"));
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

async function readFromDataset(
  services: { store: Store },
  call: CallWithCaller,
  { dataset_id: id, revision, split }: TasksFromDataset,
): Promise<NewTask[]> {
  const tasks: NewTask[] = [];
  const firstStates = await readFirstStates(services, requesterOf(call), {
    id,
    number: revision ?? undefined,
  });
  for (const one of firstStates) tasks.push(toNewTask({ split, ...toTask(one) }));
  if (tasks.length === 0) {
    const reason = "No trajectory begins with a state: a conversation has none";
    throw new InvalidRequestError([valueError(["body", "dataset_id"], reason)]);
  }
  return tasks;
}

/** Samples may be in any order; the first state of a trajectory is that of its lowest step. */
async function readFirstStates(
  services: { store: Store },
  requester: Requester,
  dataset: { id: string; number: number | undefined },
): Promise<Iterable<FirstState>> {
  const first = new Map<string, FirstState & { step: number }>();
  for await (const lines of await exportSamples(services, requester, dataset)) {
    for (const line of lines) {
      const sample = JSON.parse(line) as DatasetSample;
      const { trajectory_id: trajectoryId, step, interaction, context, tags } = sample;
      const known = first.get(trajectoryId);
      if (interaction === undefined || (known !== undefined && known.step <= step)) continue;
      first.set(trajectoryId, { trajectoryId, step, state: interaction.state, context, tags });
    }
  }
  return first.values();
}

/** With its tags, worlds leave out what belongs to it. */
function toTask({ trajectoryId, state, context, tags }: FirstState): Task {
  const metadata = { trajectory_id: trajectoryId, ...(tags && { tags }) };
  return { initial_state: state, context, metadata };
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
