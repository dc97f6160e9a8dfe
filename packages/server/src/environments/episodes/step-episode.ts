import { type EnvironmentConfig, type StoredWorld, worldReference } from "@presage/contract";
import { composeUserTurn } from "@presage/contract/compose-prompt";
import { conflict, ReusedKeyError, type ServiceError, UpstreamError } from "../../platform/errors.ts";
import { type Answer, answerColumns } from "../../platform/storage/answer-columns.ts";
import { nowMicros, toFlag, toStorableText } from "../../platform/storage/columns.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import type { KnownWorlds } from "../../worlds/find-world.ts";
import type { Asked } from "../../worlds/world.ts";
import { type JudgeServices, judge, matches, type Reward, rewardOf } from "../rewards-and-ends.ts";
import {
  type Episode,
  findEpisode,
  forgetRemembered,
  hasExpired,
  keepState,
  readState,
  type StateServices,
  statusOf,
} from "./episode.ts";
import { paramsOf } from "./episode-prompt.ts";
import type { NewStep } from "./episode-writes-store.ts";
import { countFailedStep, type StepRow, selectStepByKey } from "./episodes-store.ts";
import {
  askedOfWorld,
  composeMessages,
  type End,
  type EpisodeMessage,
  findEnd,
  rewardOfOutcome,
  type Turn,
} from "./turns.ts";

/** An answer, and how long it took. */
type TimedAnswer = Answer & { latencyMs: number; world?: StoredWorld | undefined };

/** Asks a deployment, the default one if none is named. Throws an `UpstreamError` for an answer that cannot be an observation. */
export type Ask = (
  question: {
    deployment: string | undefined;
    messages: EpisodeMessage[];
    /** A world's reference and the question for it, used instead of the deployment and the messages. */
    through?: { world: string; asked: Asked } | undefined;
    params: Readonly<Record<string, unknown>>;
    /** Whether a text that was cut off counts as an answer. */
    acceptsTruncated: boolean;
    /** Whether an answer counts as a failure if its world is less sure of it than it needs. */
    failsOnAbstention: boolean;
    /** Steps of an episode go to the replica that has their prefix cached. */
    session: string;
  },
  signal: AbortSignal,
) => Promise<TimedAnswer>;

export interface WantedStep {
  episodeId: string;
  action: string;
  /** Requests with the same key take one step. */
  requestKey: string | undefined;
  /** Whether no earlier request can have had the key. */
  isNewKey?: boolean;
  /** How many steps the agent has seen; undefined if unknown. If the episode has another number of steps, none is taken. */
  seen?: number;
}

/** A stored step, and whether the episode ended with it. */
export interface StepResult {
  step: StepRow;
  /** How the episode ended with this step, if it did. */
  end: Pick<End, "outcome" | "reason"> | undefined;
}

export interface StepServices extends StateServices, JudgeServices {
  knownWorlds: KnownWorlds;
  /** Stores steps, those of many episodes together. Returns whether this one was stored. */
  writeStep(step: NewStep): Promise<boolean>;
}

/**
 * Takes a step: asks the deployment for the next observation, determines whether the episode ends, and what the reward is. If the
 * deployment fails, its error is thrown and the episode does not change.
 */
export async function stepEpisode(
  services: StepServices,
  requester: Requester,
  wanted: WantedStep,
  ask: Ask,
  isMatch = matches,
): Promise<StepResult> {
  const startedAt = nowMicros();
  const state = await readState(services, requester, wanted.episodeId);
  const { episode, turns: before } = state;
  const made = wanted.isNewKey ? undefined : await recall(services, requester, episode, wanted);
  if (made !== undefined) return made;
  refuseClosed(episode);
  if (wanted.seen !== undefined && wanted.seen !== episode.row.steps) {
    if (forgetRemembered(services, state))
      return await stepEpisode(services, requester, wanted, ask, isMatch);
    throw unseenStep();
  }
  const { row, config, task } = episode;
  const answer = await askOrCountFailure(services, episode, before, wanted.action, ask, requester.signal);
  const turns = [...before, { action: wanted.action, observation: toStorableText(answer.output) }];
  const steps = row.steps + 1;
  const abstained = endOfAbstention(config, answer);
  const end =
    abstained ??
    (await findEnd(config, task, { turns, steps }, (pattern, text) =>
      isMatch(services, requester, pattern, text),
    ));
  const reward = abstained
    ? await withoutReward(services, requester, episode, abstained)
    : await findReward(services, requester, episode, turns, end);
  const step = toNewStep(episode, wanted, answer, reward, end);
  const isStored = await services.writeStep(step).catch((error: unknown) => {
    // The step may have been stored.
    forgetRemembered(services, state);
    throw error;
  });
  if (isStored) {
    keepState(services, state, step);
    return { step: toStepRow(step), end };
  }
  const wasRemembered = forgetRemembered(services, state);
  const stored = await findEpisode(services, requester, wanted.episodeId);
  const faster = await recall(services, requester, stored, wanted);
  if (faster !== undefined) return faster;
  // Another process took a step before this request came.
  if (wasRemembered && stored.row.last_active_at < startedAt)
    return await stepEpisode(services, requester, wanted, ask, isMatch);
  throw conflict("Another step of the episode was taken at the same time.");
}

/** Ends an episode if its world abstained and the config does not say otherwise, so that no agent learns from a guess. */
function endOfAbstention({ on_abstain: wanted }: EnvironmentConfig, { world }: TimedAnswer): End | undefined {
  if (world?.abstained !== true || (wanted ?? "truncate") !== "truncate") return undefined;
  const sure =
    typeof world.confidence === "number" ? ` (its confidence is ${world.confidence.toFixed(3)})` : "";
  const reason = `The world ${worldReference(world)} is less sure of the observation than it needs${sure}.`;
  return { isTerminated: false, outcome: null, reason };
}

/** The step that an earlier request with the same key took. */
async function recall(
  services: StateServices,
  requester: Requester,
  { row }: Episode,
  { action, requestKey }: WantedStep,
): Promise<StepResult | undefined> {
  if (requestKey === undefined || row.steps === 0) return undefined;
  const step = await selectStepByKey(services.store.database, row.id, requestKey);
  if (step === undefined) return undefined;
  if (step.action !== toStorableText(action)) throw new ReusedKeyError();
  if (step.step <= row.steps) return { step, end: endOf(row, step) };
  services.knownEpisodes.forget(row.id);
  return { step, end: endOf((await findEpisode(services, requester, row.id)).row, step) };
}

/** How an episode ended, if this step was its last. */
export function endOf(
  { status, steps, outcome, stop_reason: reason }: Episode["row"],
  { step }: Pick<StepRow, "step">,
): StepResult["end"] {
  if (status !== "finished" || step !== steps || reason === null) return undefined;
  return { outcome, reason };
}

function unseenStep(): ServiceError {
  return conflict(
    "The episode has moved on: a step was cut off or taken elsewhere. Send reset with its episode_id.",
  );
}

function refuseClosed({ row }: Episode): void {
  const status = statusOf(row);
  if (status === "open") return;
  throw conflict(
    status === "expired"
      ? `${hasExpired} Start a new one.`
      : `The episode has ended; start a new one. Why it ended: ${row.stop_reason}`,
  );
}

async function askOrCountFailure(
  { store }: { store: Store },
  { row, config, task }: Episode,
  turns: readonly Turn[],
  action: string,
  ask: Ask,
  signal: AbortSignal,
): Promise<TimedAnswer> {
  const question = {
    deployment: config.deployment ?? undefined,
    messages: composeMessages(config, task, turns, action),
    through: config.world
      ? { world: config.world, asked: askedOfWorld(config, task, turns, action) }
      : undefined,
    params: paramsOf({ row, config }),
    acceptsTruncated: config.truncated_output === "accept",
    failsOnAbstention: config.on_abstain === "fail",
    session: row.id,
  };
  try {
    return await ask(question, signal);
  } catch (error) {
    const isGivenUp = signal.aborted && !(signal.reason instanceof UpstreamError);
    // The cause of the failure matters more than counting it.
    if (!isGivenUp) await countFailedStep(store.database, row.id, nowMicros()).catch(() => {});
    throw error;
  }
}

const none: Reward = { reward: null, error: null };

async function findReward(
  services: StepServices,
  requester: Requester,
  { row, config, task }: Episode,
  turns: readonly Turn[],
  end: End | undefined,
): Promise<Reward> {
  const { accountId, signal } = requester;
  const wanted = await rewardOf(services, requester, config);
  if (!wanted)
    return { ...none, reward: end === undefined ? null : rewardOfOutcome(config.stop ?? [], end.outcome) };
  if (wanted.when === "last" && end === undefined) return none;
  const last = turns.at(-1);
  const state = turns.at(-2)?.observation ?? task.initial_state;
  return await judge(
    services,
    {
      accountId,
      keyId: row.api_key_id ?? undefined,
      evaluator: wanted.evaluator,
      profileName: wanted.profile_name ?? undefined,
      input: composeUserTurn({ state, action: last?.action ?? "" }),
      observation: last?.observation ?? "",
      goal: task.goal ?? undefined,
      tags: { environment: row.environment, episode: row.id, step: String(row.steps + 1) },
    },
    signal,
  );
}

/** Gives the reason only if the episode should have a reward. */
async function withoutReward(
  services: StepServices,
  requester: Requester,
  { config }: Episode,
  { reason }: End,
): Promise<Reward> {
  const wanted = await rewardOf(services, requester, config);
  return wanted || rewardOfOutcome(config.stop ?? [], null) !== null ? { ...none, error: reason } : none;
}

function toNewStep(
  { row }: Episode,
  { action, requestKey }: WantedStep,
  answer: TimedAnswer,
  { reward, error }: Reward,
  end: End | undefined,
): NewStep {
  const id = Bun.randomUUIDv7();
  const number = row.steps + 1;
  const at = nowMicros();
  return {
    at,
    episodeCreatedAt: row.created_at,
    end: end && { outcome: end.outcome, stop_reason: end.reason },
    step: {
      episode_id: row.id,
      step: number,
      action: toStorableText(action),
      reward,
      reward_error: error === null ? null : toStorableText(error),
      terminated: toFlag(end?.isTerminated === true),
      truncated: toFlag(end?.isTerminated === false),
      request_key: requestKey ?? null,
    },
    prediction: {
      id,
      account_id: row.account_id,
      source: "episode",
      created_at: at,
      run_id: row.id,
      position: number,
      repeat: 0,
      status: "success",
      error_category: null,
      deployment: answer.deployment,
      ...answerColumns(answer),
      latency_micros: Math.round(answer.latencyMs * 1000),
      api_key_id: row.api_key_id,
      request_id: null,
    },
    payload: {
      prediction_id: id,
      context_digest: null,
      request: answer.world ? JSON.stringify({ world: answer.world }) : null,
      output: toStorableText(answer.output),
      reasoning: answer.reasoning === null ? null : toStorableText(answer.reasoning),
      error_message: null,
    },
  };
}

function toStepRow({ step, prediction, payload }: NewStep): StepRow {
  const { deployment, model, replica, finish_reason, latency_micros } = prediction;
  const { prompt_tokens, cached_tokens, completion_tokens } = prediction;
  const answer = { finish_reason, prompt_tokens, cached_tokens, completion_tokens, latency_micros };
  const observation = payload.output ?? "";
  return { ...step, prediction_id: prediction.id, deployment, model, replica, ...answer, observation };
}
