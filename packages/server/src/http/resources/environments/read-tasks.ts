import { TaskLine, TasksFromDataset } from "@presage/contract";
import type { EnvironmentServices, FirstState } from "../../../environments/environment-services.ts";
import type { NewTask } from "../../../environments/tasks/add-tasks.ts";
import { ClientDisconnectedError, ServiceError } from "../../../errors.ts";
import { readBodyWithin } from "../../../limits/read-body-within.ts";
import { keepOpen } from "../../pipeline/keep-open.ts";
import { reserveBody } from "../../pipeline/reserve-memory.ts";
import type { CallWithCaller } from "../../pipeline/route.ts";
import { valueError } from "../../request/pydantic-issues.ts";
import { requesterOf } from "../../request/requester-of.ts";
import { InvalidRequestError, validate } from "../../request/validate.ts";

const defaultSplit = "train";
/** A body of empty lines must not take long. */
const maxTasks = 100_000;

/** The tasks in a request's body: a task on each line, or a dataset whose trajectories become tasks. */
export async function readTasks(
  services: Pick<EnvironmentServices, "readFirstStates">,
  call: CallWithCaller,
  maxBodyBytes: number,
): Promise<NewTask[]> {
  const lines = await readLines(call, maxBodyBytes);
  const [first] = lines;
  if (first !== undefined && lines.length === 1 && isDataset(first.value))
    return await readFromDataset(services, call, validate(TasksFromDataset, first.value, "body"));
  return lines.map(({ number, value }) => {
    try {
      const { split, ...task } = validate(TaskLine, value, "body");
      return { split: split ?? defaultSplit, task };
    } catch (error) {
      if (!(error instanceof InvalidRequestError)) throw error;
      throw new InvalidRequestError(
        error.issues.map((issue) => ({ ...issue, loc: ["body", "line", number, ...issue.loc.slice(1)] })),
      );
    }
  });
}

async function readFromDataset(
  { readFirstStates }: Pick<EnvironmentServices, "readFirstStates">,
  call: CallWithCaller,
  { dataset_id: id, revision, split }: TasksFromDataset,
): Promise<NewTask[]> {
  const tasks: NewTask[] = [];
  for await (const some of readFirstStates(requesterOf(call), { id, revision: revision ?? undefined })) {
    for (const one of some) tasks.push({ split: split ?? defaultSplit, task: toTask(one) });
  }
  return tasks;
}

function toTask({ trajectoryId, state, context }: FirstState): NewTask["task"] {
  return { initial_state: state, context, metadata: { trajectory_id: trajectoryId } };
}

function isDataset(value: unknown): boolean {
  return typeof value === "object" && value !== null && "dataset_id" in value;
}

interface Line {
  /** From 1. */
  number: number;
  value: unknown;
}

async function readLines(call: CallWithCaller, maxBodyBytes: number): Promise<Line[]> {
  const text = await readText(call, maxBodyBytes);
  const lines: Line[] = [];
  for (const [index, line] of text.split("\n", maxTasks + 1).entries()) {
    if (line.trim() === "") continue;
    lines.push({ number: index + 1, value: parse(line, index + 1) });
  }
  if (lines.length > maxTasks)
    throw new InvalidRequestError([valueError(["body"], `Send at most ${maxTasks} tasks at once`)]);
  if (lines.length === 0)
    throw new InvalidRequestError([valueError(["body"], "Send a task on each line, as JSON")]);
  return lines;
}

async function readText(call: CallWithCaller, maxBodyBytes: number): Promise<string> {
  const { request, exchange } = call;
  const bytes = await readBodyWithin(request, maxBodyBytes, (length) => reserveBody(exchange, length)).catch(
    (error: unknown) => {
      throw error instanceof ServiceError ? error : new ClientDisconnectedError();
    },
  );
  keepOpen(call);
  if (bytes === undefined)
    throw new ServiceError("body_too_large", `The request body is larger than ${maxBodyBytes} bytes.`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new InvalidRequestError([valueError(["body"], "The body is not UTF-8")]);
  }
}

function parse(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "not JSON";
    throw new InvalidRequestError([valueError(["body", "line", number], `Not JSON: ${reason}`)]);
  }
}
