import type { EnvironmentConfig } from "@presage/contract";
import {
  isOverloaded,
  ReusedKeyError,
  ServiceError,
  SpendingRefusedError,
  UpstreamError,
} from "../../platform/errors.ts";
import { toStorableText } from "../../platform/storage/columns.ts";
import type { EpisodesTable } from "../../platform/storage/schema/runs.ts";
import type { Store } from "../../platform/storage/store.ts";
import { isStoreUnavailable } from "../../platform/storage/store-error.ts";
import { toolOf } from "../environment.ts";
import { type Episode, findEpisode } from "../episodes/episode.ts";
import { endFailedEpisode, selectStepByKey, selectSteps } from "../episodes/episodes-store.ts";
import {
  type Ask,
  endOf,
  type StepResult,
  type StepServices,
  stepEpisode,
} from "../episodes/step-episode.ts";
import { matches } from "../rewards-and-ends.ts";
import type { OpenSession, SessionServices } from "./ors-sessions.ts";
import { selectSession } from "./ors-sessions-store.ts";

/** The outcome of a call: a step; an episode that ended because its next step could not be predicted; or why there is no step. */
export type CallOutcome =
  | { kind: "step"; result: StepResult }
  | { kind: "failed"; episode: EpisodesTable }
  | { kind: "refused"; message: string };

/** A call whose step this process is taking. */
interface RunningCall {
  sessionId: string;
  action: string;
  taskId: string;
  outcome: Promise<CallOutcome>;
}

/** The same limit as for a step over HTTP. */
const maxActionCharacters = 100_000;

/** The action of a call, or why it is invalid, worded for the agent. */
function readAction(
  config: Pick<EnvironmentConfig, "tool">,
  { name, input }: { name: string; input: Readonly<Record<string, unknown>> },
): { action: string } | { refusal: string } {
  const tool = toolOf(config);
  if (name !== tool.name)
    return {
      refusal: `${JSON.stringify(name.slice(0, 100))} is not a valid tool; the tool is ${tool.name}.`,
    };
  const { [tool.argument]: action, ...others } = input;
  if (typeof action !== "string" || action.trim() === "")
    return {
      refusal: `The argument ${tool.argument} of ${tool.name} must be a string with more than white space.`,
    };
  if (action.length > maxActionCharacters)
    return {
      refusal: `The argument ${tool.argument} of ${tool.name} can have at most ${maxActionCharacters} characters.`,
    };
  if (Object.keys(others).length > 0)
    return { refusal: `${tool.name} takes no argument other than ${tool.argument}.` };
  // In its stored form, so that the model is told the same in all later steps.
  return { action: toStorableText(action) };
}

export interface WantedCall {
  name: string;
  input: Readonly<Record<string, unknown>>;
  /** Sent by a client that comes back for the result. */
  taskId: string | undefined;
}

/** A call, and its outcome so far. */
export interface FoundCall {
  taskId: string;
  action: string;
  /** Undefined if its step is not taken yet. */
  outcome: CallOutcome | undefined;
  /** Whether the task was created for this call. */
  isNewTask?: boolean;
}

export interface CallServices extends StepServices {
  ors: SessionServices["ors"] & {
    /** The calls whose steps this process is taking, by task: a client that comes back waits for the same step. */
    running: Map<string, RunningCall>;
    /** Aborted when the process stops. A call continues without its client. */
    signal: AbortSignal;
  };
}

/**
 * Finds the call that a client comes back to: by its task, or, if the client never learned the task, by its action as long as the
 * last result was not sent in full. Otherwise it is a new call. Undefined if there is no such task.
 */
export async function findCall(
  services: CallServices,
  open: OpenSession,
  wanted: WantedCall,
): Promise<FoundCall | undefined> {
  const { session, episode } = open;
  const { ids } = services.ors;
  const next = episode.row.steps + 1;
  const step = wanted.taskId === undefined ? next : ids.stepOf(session.id, wanted.taskId);
  if (step === undefined) return undefined;
  const read = readAction(episode.config, wanted);
  if ("refusal" in read) {
    const taskId = wanted.taskId ?? ids.newTask(session.id, next);
    return { taskId, action: "", outcome: { kind: "refused", message: read.refusal } };
  }
  const { action } = read;
  if (wanted.taskId !== undefined) {
    const { taskId } = wanted;
    return { taskId, action, outcome: await findOutcome(services, episode, { taskId, step, action }) };
  }
  const same = services.ors.running
    .values()
    .find((call) => call.sessionId === session.id && call.action === action);
  if (same !== undefined) return { taskId: same.taskId, action, outcome: undefined };
  const outcome = failureOf(episode) ?? (await findUndelivered(services, open, action));
  const known = outcome?.kind === "step" ? outcome.result.step.request_key : null;
  return { taskId: known ?? ids.newTask(session.id, next), action, outcome, isNewTask: known === null };
}

async function findOutcome(
  { store, ors }: CallServices,
  episode: Episode,
  { taskId, step, action }: { taskId: string; step: number; action: string },
): Promise<CallOutcome | undefined> {
  if (ors.running.has(taskId)) return undefined;
  const { row } = episode;
  const taken = row.steps === 0 ? undefined : await selectStepByKey(store.database, row.id, taskId);
  if (taken !== undefined && taken.action !== toStorableText(action))
    return { kind: "refused", message: "This task_id belongs to a call with another action." };
  if (taken !== undefined) return { kind: "step", result: { step: taken, end: endOf(row, taken) } };
  const failure = failureOf(episode);
  if (failure !== undefined) return failure;
  if (step !== row.steps + 1)
    return { kind: "refused", message: "Another step was taken in place of this call." };
  return undefined;
}

/** The failure of an episode that ended because its next step could not be predicted. */
function failureOf({ row }: Episode): CallOutcome | undefined {
  return row.error === null ? undefined : { kind: "failed", episode: row };
}

/** The last step, if it has this action and its result was not sent in full: a client that comes back has not seen it. */
async function findUndelivered(
  { store }: { store: Store },
  { session, episode: { row } }: OpenSession,
  action: string,
): Promise<CallOutcome | undefined> {
  const steps = row.steps;
  if (steps === 0 || session.delivered_steps >= steps) return undefined;
  const [last] = await selectSteps(store.database, row.id, steps - 1);
  if (last === undefined || last.action !== toStorableText(action)) return undefined;
  return { kind: "step", result: { step: last, end: endOf(row, last) } };
}

export interface NewCall {
  accountId: string;
  sessionId: string;
  taskId: string;
  action: string;
  isNewTask: boolean;
}

/** Why a prediction failed, as stored with an episode. */
export interface CallError {
  category: string;
  message: string;
}

/**
 * Takes the step of a call, or waits for it if this process is taking it already. It continues without the client, which comes back. If
 * another process takes it as well, the first to store it wins, because both have the task as their request's key.
 */
export function takeCall(services: CallServices, call: NewCall, ask: Ask): Promise<CallOutcome> {
  const { running } = services.ors;
  const { sessionId, action, taskId } = call;
  const known = running.get(taskId);
  if (known !== undefined) return known.outcome;
  const outcome = takeStep(services, call, ask).finally(() => running.delete(taskId));
  running.set(taskId, { sessionId, action, taskId, outcome });
  return outcome;
}

async function takeStep(services: CallServices, call: NewCall, ask: Ask): Promise<CallOutcome> {
  const { accountId, sessionId: episodeId, taskId, action, isNewTask } = call;
  const requester = { accountId, signal: services.ors.signal };
  let failure: { error: unknown } | undefined;
  const note = (error: unknown): never => {
    failure = { error };
    throw error;
  };
  const matchesNoting: typeof matches = (...of) => matches(...of).catch(note);
  try {
    const wanted = { episodeId, action, requestKey: taskId, isNewKey: isNewTask };
    // If the store or an index of examples is only late, nothing is predicted and nothing has failed.
    const askNoting: Ask = (question, signal) =>
      ask(question, signal).catch((error: unknown) => {
        if (isStoreUnavailable(error) || isOverloaded(error)) throw error;
        return note(error);
      });
    return { kind: "step", result: await stepEpisode(services, requester, wanted, askNoting, matchesNoting) };
  } catch (error) {
    // A stopping process is not a failure: the client comes back to another one.
    if (requester.signal.aborted) throw error;
    if (failure !== undefined) return await endAsFailed(services, call, failure.error);
    // A judge was refused after the prediction was made: another try would pay for the prediction again.
    if (error instanceof SpendingRefusedError) return await endAsFailed(services, call, error);
    if (error instanceof ReusedKeyError) return { kind: "refused", message: error.message };
    if (error instanceof ServiceError && error.code === "conflict")
      return await findWinner(services, call, error.message);
    // The store failed, or the episode was deleted: the connection breaks, and the client comes back.
    if (error instanceof ServiceError || isStoreUnavailable(error)) throw error;
    await endAsFailed(services, call, error);
    throw error;
  }
}

/** Only the end of the episode can tell the agent: the protocol has no failed step that can be repeated. */
async function endAsFailed(services: CallServices, call: NewCall, failure: unknown): Promise<CallOutcome> {
  const { store, ors } = services;
  const { sessionId: id, taskId } = call;
  const error = describe(failure);
  const steps = (ors.ids.stepOf(id, taskId) ?? 0) - 1;
  await endFailedEpisode(
    store.database,
    { id, steps },
    { stop_reason: `The next step could not be predicted: ${error.message}`, error: JSON.stringify(error) },
  );
  return await findWinner(services, call, "Another step was taken in place of this call.");
}

function describe(failure: unknown): CallError {
  const message = failure instanceof Error ? toStorableText(failure.message, 1_000) : "";
  if (failure instanceof UpstreamError) return { category: failure.category, message };
  if (failure instanceof ServiceError) return { category: failure.code, message };
  return { category: "internal", message: "Internal error." };
}

/** What was stored in place of the step. */
async function findWinner(
  services: CallServices,
  { accountId, sessionId, action }: NewCall,
  message: string,
): Promise<CallOutcome> {
  const { store, ors } = services;
  const episode = await findEpisode(services, { accountId, signal: ors.signal }, sessionId);
  const session = await selectSession(store.database, accountId, sessionId);
  const found =
    failureOf(episode) ?? (session && (await findUndelivered(services, { session, episode }, action)));
  return found ?? { kind: "refused", message };
}
