import { toStorableText } from "../../platform/storage/storable-text.ts";
import type { EnvironmentServices } from "../environment-services.ts";
import type { Episode } from "../episodes/episode.ts";
import { selectStepByKey, selectSteps } from "../episodes/episodes-store.ts";
import { endOf } from "../episodes/step-episode.ts";
import type { CallOutcome } from "./call-outcome.ts";
import type { OpenSession } from "./open-session.ts";
import { readAction } from "./read-action.ts";

export interface WantedCall {
  name: string;
  input: Readonly<Record<string, unknown>>;
  /** Given by a client that comes back for the result. */
  taskId: string | undefined;
}

/** A call as it stands. */
export interface FoundCall {
  taskId: string;
  action: string;
  /** Undefined: a step has to be taken for it, or is being taken. */
  outcome: CallOutcome | undefined;
}

type Services = Pick<EnvironmentServices, "store" | "ors">;

/**
 * Finds the call that a client comes back to: by its task, or, if it never learned that, by its action as long as the last result was
 * not sent whole. Otherwise it is a new call. Undefined: there is no such task.
 */
export async function findCall(
  services: Services,
  open: OpenSession,
  wanted: WantedCall,
): Promise<FoundCall | undefined> {
  const { session, episode } = open;
  const { ids } = services.ors;
  const next = Number(episode.row.steps) + 1;
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
  const same = [...services.ors.running.values()].find(
    (call) => call.sessionId === session.id && call.action === action,
  );
  if (same !== undefined) return { taskId: same.taskId, action, outcome: undefined };
  const outcome = failureOf(episode) ?? (await findUndelivered(services, open, action));
  const known = outcome?.kind === "step" ? outcome.result.step.request_key : null;
  return { taskId: known ?? ids.newTask(session.id, next), action, outcome };
}

async function findOutcome(
  { store, ors }: Services,
  episode: Episode,
  { taskId, step, action }: { taskId: string; step: number; action: string },
): Promise<CallOutcome | undefined> {
  if (ors.running.has(taskId)) return undefined;
  const { row } = episode;
  const taken = Number(row.steps) === 0 ? undefined : await selectStepByKey(store.database, row.id, taskId);
  if (taken !== undefined && taken.action !== toStorableText(action))
    return { kind: "refused", message: "The task is another call." };
  if (taken !== undefined) return { kind: "step", result: { step: taken, end: endOf(row, taken) } };
  const failure = failureOf(episode);
  if (failure !== undefined) return failure;
  if (step !== Number(row.steps) + 1)
    return { kind: "refused", message: "Another step was taken in place of this call." };
  return undefined;
}

/** That an episode ended because its next step could not be predicted. */
export function failureOf({ row }: Episode): CallOutcome | undefined {
  return row.error === null ? undefined : { kind: "failed", episode: row };
}

/** The last step, if it has this action and its result was not sent whole: a client that comes back has not seen it. */
export async function findUndelivered(
  { store }: Services,
  { session, episode: { row } }: OpenSession,
  action: string,
): Promise<CallOutcome | undefined> {
  const steps = Number(row.steps);
  if (steps === 0 || Number(session.delivered_steps) >= steps) return undefined;
  const [last] = await selectSteps(store.database, row.id, steps - 1);
  if (last === undefined || last.action !== toStorableText(action)) return undefined;
  return { kind: "step", result: { step: last, end: endOf(row, last) } };
}
