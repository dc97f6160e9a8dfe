import { setTimeout as sleep } from "node:timers/promises";
import { OpenEnvAction, OpenEnvReset } from "@presage/contract";
import { z } from "zod";
import { type Caller, keyIdOf } from "../../http/caller.ts";
import { admit, countUsage, type Exchange } from "../../http/exchange.ts";
import { reserveBody } from "../../http/memory.ts";
import { validate } from "../../http/validate.ts";
import { conflict, ServiceError, undefinedIfGone } from "../../platform/errors.ts";
import type { Admission } from "../../platform/limits/admission.ts";
import { orAborted } from "../../platform/limits/deadline.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { type AskServices, askForRequest } from "../episodes/ask.ts";
import { type Episode, findEpisode, hasExpired, statusOf } from "../episodes/episode.ts";
import { selectSteps } from "../episodes/episodes-store.ts";
import { showReality, toEpisodeStart, toEpisodeSummary, toStep } from "../episodes/show-episode.ts";
import { type StartServices, startEpisode } from "../episodes/start-episode.ts";
import { endOf, type StepResult, type StepServices, stepEpisode } from "../episodes/step-episode.ts";
import type { RealityServices } from "../find-environment.ts";

/** The state of one socket. */
export interface Conversation {
  readonly environment: string;
  /** The path of its route. */
  readonly path: string;
  /** The API key, which is checked again with each message. */
  readonly key: string;
  /** The headers that name a trace. */
  readonly headers: Headers;
  /** The current episode, with the client's name for it, and how many of its steps the client has seen. */
  episode: { id: string; name: string | undefined; steps: number } | undefined;
}

/** A message whose caller is known. */
export interface MessageCall {
  exchange: Exchange;
  caller: Caller;
  requester: Requester;
  /** On the clock of `performance.now()`. */
  deadlineAtMs: number;
}

/**
 * Tries again after a limit's refusal, while admission before the deadline is possible: OpenEnv's client would fail its whole
 * episode, where a client over HTTP waits and retries.
 */
async function retryUntilAdmitted<Value>(
  { requester: { signal }, deadlineAtMs }: MessageCall,
  enter: () => Value | Promise<Value>,
): Promise<Value> {
  for (;;) {
    try {
      return await enter();
    } catch (error) {
      const isRefusal =
        error instanceof ServiceError && (error.code === "rate_limited" || error.code === "overloaded");
      if (!isRefusal || error.retryAfterS === undefined) throw error;
      // Spread out, so that waiting callers do not all return together.
      const waitMs = error.retryAfterS * 1000 * (1 + Math.random() / 2);
      if (performance.now() + waitMs > deadlineAtMs) throw error;
      await orAborted(sleep(waitMs), signal);
    }
  }
}

/** The services that playing needs. */
export interface MessageServices extends StartServices, StepServices, AskServices {
  admission: Admission;
}

/** The start of an episode in the form that OpenEnv's clients read. */
function showStart(episode: Episode): object {
  const { episode_id, observation, info } = toEpisodeStart(episode);
  const { prompt } = info;
  return {
    observation: {
      prompt: prompt === null ? observation : `${prompt}\n\n${observation}`,
      truncated: false,
      metadata: { episode_id, step: 0 },
    },
    reward: null,
    done: false,
    metadata: { episode_id, step: 0, ...info },
  };
}

/**
 * A step of an episode. Trainers may show an agent the whole observation, so anything the agent need not see is outside it, where
 * newer clients read it.
 */
function showStep(episodeId: string, result: StepResult): object {
  const { observation, reward, terminated, truncated, info } = toStep(result);
  return {
    observation: {
      prompt: observation,
      truncated,
      metadata: { episode_id: episodeId, step: info.step },
    },
    reward,
    done: terminated || truncated,
    metadata: { episode_id: episodeId, ...info },
  };
}

/** Starts an episode, or resumes one whose id the client kept from before its socket was cut. */
export async function resetEpisode(
  services: StartServices,
  conversation: Conversation,
  data: unknown,
  call: MessageCall,
): Promise<object> {
  const { store } = services;
  const { caller, requester } = call;
  const wanted = validate(OpenEnvReset, data ?? {}, "body");
  const name = wanted.episode_id ?? undefined;
  const known = name === undefined ? undefined : await findKnown(services, requester, name);
  if (known !== undefined) {
    refuseOther(known, conversation);
    const steps = known.row.steps;
    conversation.episode = { id: known.row.id, name: undefined, steps };
    const [step] = steps === 0 ? [] : await selectSteps(store.database, known.row.id, steps - 1);
    if (step === undefined) return showStart(known);
    return showStep(known.row.id, { step, end: endOf(known.row, step) });
  }
  // Trainers start all episodes of a batch together, more than may wait to be stored.
  const episode = await retryUntilAdmitted(call, () =>
    startEpisode(services, requester, {
      environment: conversation.environment,
      split: wanted.split ?? "train",
      index: wanted.index ?? undefined,
      seed: wanted.seed ?? undefined,
      policy: wanted.policy ?? undefined,
      apiKeyId: keyIdOf(caller),
    }),
  );
  conversation.episode = { id: episode.row.id, name, steps: 0 };
  return showStart(episode);
}

const uuid = z.uuid();

/** Undefined for a name that the client made up, which may have characters that databases refuse. */
async function findKnown(services: { store: Store }, requester: MessageCall["requester"], id: string) {
  if (!uuid.safeParse(id).success) return undefined;
  return await findEpisode(services, requester, id).catch(undefinedIfGone);
}

function refuseOther({ row }: Episode, { environment }: Conversation): void {
  if (row.environment !== environment)
    throw conflict(`The episode belongs to the environment ${row.environment}.`);
  if (statusOf(row) === "expired") throw conflict(`${hasExpired} Reset without its episode_id.`);
}

/** OpenEnv's state, with Presage's summary of the episode. */
export async function showState(
  services: RealityServices,
  { episode }: Conversation,
  { requester }: MessageCall,
): Promise<object> {
  if (episode === undefined) return { episode_id: null, step_count: 0 };
  const found = await findEpisode(services, requester, episode.id);
  const { id, steps_taken, ...summary } = toEpisodeSummary(found.row);
  // The public client passes on the whole state, but only those fields of a reset that agents see.
  const reality = await showReality(services, requester, found);
  return { episode_id: episode.name ?? id, step_count: steps_taken, ...summary, ...reality };
}

/** Takes a step of the socket's episode, within the limits of predictions. */
export async function takeStep(
  services: MessageServices,
  { episode }: Conversation,
  { data, bytes }: { data: unknown; bytes: number },
  call: MessageCall,
): Promise<object> {
  const { message } = validate(OpenEnvAction, data, "body");
  if (episode === undefined)
    throw conflict(
      "This socket has no episode. Send reset, with the episode_id of an open episode to continue it.",
    );
  countUsage(call, "predict");
  await retryUntilAdmitted(call, () => reserveBody(call.exchange, bytes));
  await retryUntilAdmitted(call, () => admit(services.admission, call));
  const wanted = { episodeId: episode.id, action: message, requestKey: undefined, seen: episode.steps };
  const taken = await stepEpisode(services, call.requester, wanted, askForRequest(services, call));
  episode.steps = taken.step.step;
  return showStep(episode.id, taken);
}
