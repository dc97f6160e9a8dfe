import { ServiceError, UpstreamError } from "../../platform/errors.ts";
import { ReusedKeyError } from "../../platform/storage/once.ts";
import { toStorableText } from "../../platform/storage/storable-text.ts";
import { isStoreUnavailable } from "../../platform/storage/store-error.ts";
import type { EnvironmentServices } from "../environment-services.ts";
import { findEpisode } from "../episodes/episode.ts";
import { endFailedEpisode } from "../episodes/episodes-store.ts";
import { type Ask, stepEpisode } from "../episodes/step-episode.ts";
import type { CallOutcome } from "./call-outcome.ts";
import { failureOf, findUndelivered } from "./find-call.ts";
import { selectSession } from "./ors-sessions-store.ts";

export interface NewCall {
  accountId: string;
  sessionId: string;
  taskId: string;
  action: string;
}

/** Why a prediction failed, as an episode keeps it. */
export interface CallError {
  category: string;
  message: string;
}

/**
 * Takes the step of a call, or waits for it if this process is taking it already. It continues without the client, which comes back. If
 * another process takes it as well, the first one to store it wins, as both have the task as their request's key.
 */
export function takeCall(services: EnvironmentServices, call: NewCall, ask: Ask): Promise<CallOutcome> {
  const { running } = services.ors;
  const { sessionId, action, taskId } = call;
  const known = running.get(taskId);
  if (known !== undefined) return known.outcome;
  const outcome = takeStep(services, call, ask).finally(() => running.delete(taskId));
  running.set(taskId, { sessionId, action, taskId, outcome });
  return outcome;
}

async function takeStep(services: EnvironmentServices, call: NewCall, ask: Ask): Promise<CallOutcome> {
  const { accountId, sessionId: episodeId, taskId, action } = call;
  const requester = { accountId, signal: services.ors.signal };
  let failure: { error: unknown } | undefined;
  const note = (error: unknown): never => {
    failure = { error };
    throw error;
  };
  const noting = { ...services, matches: (...of: Matching) => services.matches(...of).catch(note) };
  try {
    const wanted = { episodeId, action, requestKey: taskId };
    const askNoting: Ask = (question, signal) => ask(question, signal).catch(note);
    return { kind: "step", result: await stepEpisode(noting, requester, wanted, askNoting) };
  } catch (error) {
    // When the process stops nothing has failed: the client comes back to another one.
    if (requester.signal.aborted) throw error;
    if (failure !== undefined) return await endAsFailed(services, call, failure.error);
    if (error instanceof ReusedKeyError) return { kind: "refused", message: error.message };
    if (error instanceof ServiceError && error.code === "conflict")
      return await findWinner(services, call, error.message);
    // The store is at fault, or the episode is gone: the connection breaks, and the client comes back.
    if (error instanceof ServiceError || isStoreUnavailable(error)) throw error;
    await endAsFailed(services, call, error);
    throw error;
  }
}

type Matching = Parameters<EnvironmentServices["matches"]>;

/** Nothing else can tell the agent: its protocol has no failed step that can be repeated. */
async function endAsFailed(
  services: EnvironmentServices,
  call: NewCall,
  failure: unknown,
): Promise<CallOutcome> {
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
  const message = failure instanceof Error ? toStorableText(failure.message).slice(0, 1_000) : "";
  if (failure instanceof UpstreamError) return { category: failure.category, message };
  if (failure instanceof ServiceError) return { category: failure.code, message };
  return { category: "internal", message: "Internal error." };
}

/** What there is in place of the step. */
async function findWinner(
  services: EnvironmentServices,
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
