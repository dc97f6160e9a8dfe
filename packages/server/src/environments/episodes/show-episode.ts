import {
  type EpisodeFigures,
  type EpisodeFiguresQuery,
  type EpisodeGrouping,
  type EpisodeStart,
  type EpisodeStep,
  type EpisodeSummary,
  type RealityState,
  readInstant,
  type TaskSplitName,
  type Episode as WholeEpisode,
} from "@presage/contract";
import { clusteredError, rateInterval } from "../../platform/statistics/intervals.ts";
import { shownTokens } from "../../platform/storage/answer-columns.ts";
import { microsPerMs, toIsoInstant } from "../../platform/storage/columns.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { environmentDefaults } from "../environment.ts";
import { findEnvironment, ifKnownSoon, type RealityServices } from "../find-environment.ts";
import { type Episode, expiredBefore, findEpisode, indexOf, statusOf } from "./episode.ts";
import { countCharacters, type EpisodeRow, type StepRow, selectSteps } from "./episodes-store.ts";
import { type EpisodeCounts, selectEpisodeCounts } from "./figures-store.ts";
import { endOf, type StepResult } from "./step-episode.ts";

export function toEpisodeStart({ row, config, task, reality }: Episode): EpisodeStart {
  return {
    episode_id: row.id,
    observation: task.initial_state,
    info: {
      environment: row.environment,
      revision: row.revision,
      split: row.split,
      index: indexOf(row) ?? null,
      prompt: task.prompt ?? null,
      metadata: task.metadata ?? null,
      max_steps: config.max_steps ?? environmentDefaults.maxSteps,
      reality: reality === undefined ? null : withoutPolicies(reality),
    },
  };
}

/** It is not known to a second: episodes that start look anew. */
const shownForMs = 60_000;

/** Whether successes in an episode's environment are false too often, for whoever trains in it. */
export async function showReality(
  { realityOf }: RealityServices,
  requester: Requester,
  { row, config }: Episode,
): Promise<{ reality?: EpisodeStart["info"]["reality"] }> {
  if (typeof config.real?.false_success_limit !== "number") return {};
  const { environment_id: id, environment: name } = row;
  const looking = realityOf(requester, { id, name, revision: row.revision, config }, shownForMs);
  const state = await ifKnownSoon(looking);
  return state === undefined ? {} : { reality: withoutPolicies(state) };
}

function withoutPolicies({ policies: _, ...state }: RealityState) {
  return state;
}

export function toEpisodeSummary(row: EpisodeRow): EpisodeSummary {
  return {
    id: row.id,
    environment: row.environment,
    revision: row.revision,
    split: row.split,
    index: indexOf(row) ?? null,
    seed: row.seed,
    policy: row.policy,
    status: statusOf(row),
    outcome: row.outcome,
    stop_reason: row.stop_reason,
    steps_taken: row.steps,
    reward: row.reward,
    failed_steps: row.failed_steps,
    created_at: toIsoInstant(row.created_at),
    last_active_at: toIsoInstant(row.last_active_at),
  };
}

export function toStep({ step, end }: StepResult): EpisodeStep {
  const { prompt_tokens, cached_tokens, completion_tokens } = step;
  return {
    action: step.action,
    observation: step.observation,
    reward: step.reward,
    terminated: step.terminated === 1,
    truncated: step.truncated === 1,
    info: {
      step: step.step,
      outcome: end?.outcome ?? null,
      stop_reason: end?.reason ?? null,
      prediction_id: step.prediction_id,
      reward_error: step.reward_error,
      deployment: step.deployment,
      model: step.model,
      finish_reason: step.finish_reason,
      ...shownTokens({ prompt_tokens, cached_tokens, completion_tokens }),
      latency_ms: step.latency_micros === null ? null : step.latency_micros / microsPerMs,
    },
  };
}

/** An episode with all its steps. `reserve` is told how many characters it has before they are read. */
export async function showEpisode(
  { store }: { store: Store },
  requester: Requester,
  id: string,
  reserve: (characters: number) => void,
): Promise<WholeEpisode> {
  const episode = await findEpisode({ store }, requester, id);
  const { id: storedId, task, steps } = episode.row;
  const reader = store.briefReader(requester);
  reserve(task.length + (await countCharacters(reader, storedId, { after: 0, upTo: steps })));
  return toEpisode(episode, await selectSteps(reader, storedId, 0));
}

function toEpisode({ row, task }: Episode, steps: readonly StepRow[]): WholeEpisode {
  return {
    ...toEpisodeSummary(row),
    initial_state: task.initial_state,
    prompt: task.prompt ?? null,
    goal: task.goal ?? null,
    steps: steps.map((step) => toStep({ step, end: endOf(row, step) })),
  };
}

/** How the episodes of each group went. Throws if there is no environment of the name. */
export async function countByGroup(
  { store }: { store: Store },
  requester: Requester,
  { by = "environment", environment, from, to }: EpisodeFiguresQuery,
): Promise<EpisodeFigures[]> {
  const found =
    environment === undefined ? undefined : await findEnvironment({ store }, requester, environment);
  const counts = await selectEpisodeCounts(store.reader(requester), requester.accountId, by, {
    environmentId: found?.id,
    from: from === undefined ? undefined : readInstant(from),
    to: to === undefined ? undefined : readInstant(to),
    expiredBefore: expiredBefore(),
  });
  return counts.map((one) => toEpisodeFigures(by, one));
}

function toEpisodeFigures(by: EpisodeGrouping, counts: EpisodeCounts): EpisodeFigures {
  const moments = {
    clusters: counts.tasks,
    count: counts.finished,
    sum: counts.successes,
    sumSquares: counts.success_squares,
    countSums: counts.count_successes,
    countSquares: counts.count_squares,
  };
  const { environment, part, episodes, open, finished, successes, failures, tasks, rewarded, rewards } =
    counts;
  return {
    environment,
    revision: by === "revision" ? Number(part) : null,
    deployment: by === "deployment" && part !== null ? String(part) : null,
    split: by === "split" ? (part as TaskSplitName) : null,
    episodes,
    open,
    expired: episodes - open - finished,
    finished,
    successes,
    failures,
    tasks,
    success_rate: finished === 0 ? null : successes / finished,
    // Episodes of one task are not independent.
    success_interval: rateInterval(moments, clusteredError(moments)),
    mean_steps: finished === 0 ? null : counts.finished_steps / finished,
    rewarded,
    mean_reward: rewarded === 0 || rewards === null ? null : rewards / rewarded,
    failed_steps: counts.failed_steps,
    last_started_at: toIsoInstant(counts.last_started_at),
  };
}
