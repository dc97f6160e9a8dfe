import type { DatasetSample, EnvironmentConfig } from "@presage/contract";
import { readTrajectory } from "../../datasets/samples.ts";
import { recordedOf, type Task } from "../../environments/environment.ts";
import { type Episode, findEpisode, noPosition, statusOf } from "../../environments/episodes/episode.ts";
import { endUnfinished, type StepRow, selectSteps } from "../../environments/episodes/episodes-store.ts";
import { type StartServices, startEpisode } from "../../environments/episodes/start-episode.ts";
import { type Ask, type StepServices, stepEpisode } from "../../environments/episodes/step-episode.ts";
import { findEnd, isAboutGoal, type Turn } from "../../environments/episodes/turns.ts";
import { matches, UndecidedRuleError } from "../../environments/rewards-and-ends.ts";
import { ServiceError, UpstreamError, undefinedIfGone } from "../../platform/errors.ts";
import type { BackgroundTurns, FairSlots } from "../../platform/limits/turns.ts";
import { nowMicros, toFlag, toStorableText, verbOf } from "../../platform/storage/columns.ts";
import type {
  RealityChecksTable,
  RealityEpisodesTable,
  RealityReplaysTable,
  RealityStepsTable,
} from "../../platform/storage/schema/reality.ts";
import type { EpisodesTable } from "../../platform/storage/schema/runs.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import {
  isAtLeast,
  type RealEnvironment,
  RealEnvironmentError,
  type RealStep,
  UnplayableError,
} from "../real/real-environment.ts";
import { unplayable } from "./replays-store.ts";

/** What a check stores about the recorded trajectories that the environment plays. */
export interface Recordings {
  datasetId: string;
  revision: number;
  successReward: number;
}

export interface PlayServices extends StepServices, StartServices {
  /** Each step takes a turn, so that live requests come first. */
  turns: BackgroundTurns;
  /** Asks a deployment or a world after live requests; the cost is counted for a user. */
  askInBackground(spender: { accountId: string; userId: string }): Ask;
}

interface Wanted {
  check: RealityChecksTable;
  waiting: RealityReplaysTable;
}

/** A recorded step of an interaction; a conversation has none. */
type RecordedStep = DatasetSample & { interaction: NonNullable<DatasetSample["interaction"]> };

/** Plays the actions of a recorded trajectory in the environment, from its first state. The recording is the reality. */
export async function playRecording(
  services: PlayServices & ReplayRoom,
  requester: Requester,
  { check, waiting }: Wanted,
  whenStored: (() => void)[],
): Promise<{ played: PlayedEpisode; reality: Reality }> {
  const recordings = JSON.parse(check.recordings ?? "") as Recordings;
  const keep = keepTexts(services, requester, whenStored, (message) => new UnplayableError(message));
  const samples = await readRecording(services, requester, recordings, waiting.trajectory_id ?? "", keep);
  const [first] = samples;
  if (first === undefined)
    throw new UnplayableError("The trajectory has no step with a state and an action.");
  const episode = await findOrStart(services, requester, { check, waiting }, taskOf(first));
  const ask = services.askInBackground({ accountId: check.account_id, userId: check.created_by });
  const { id } = episode.row;
  for (const [index, { interaction }] of samples.entries()) {
    await services.turns.take(requester.signal);
    // After a restart, the request key returns the steps that were taken already.
    const wanted = { episodeId: id, action: interaction.action, requestKey: `recorded/${index + 1}` };
    if ((await stepEpisode(services, requester, wanted, ask)).end !== undefined) break;
  }
  await endUnfinished(services.store.writer(requester), id, "The recording has no further action.");
  const played = await readPlayed(services, requester, id);
  return { played, reality: await toReality(services, requester, played.episode, samples, recordings) };
}

async function readRecording(
  services: PlayServices,
  requester: Requester,
  { datasetId, revision }: Recordings,
  trajectoryId: string,
  keep: (characters: number) => Promise<void>,
): Promise<RecordedStep[]> {
  const wanted = { id: datasetId, number: revision, trajectoryId };
  const { samples } = await readTrajectory(services, requester, wanted, {
    limit: undefined,
    after: -1,
  }).catch(orUnplayable);
  const steps: RecordedStep[] = [];
  for await (const lines of samples.read()) {
    for (const line of lines) {
      const sample = JSON.parse(line) as DatasetSample;
      if (sample.interaction === undefined) continue;
      await keep(line.length);
      if (steps.push(sample as RecordedStep) > maxSteps)
        throw new UnplayableError(`The trajectory has more than ${maxSteps} steps.`);
    }
  }
  return steps;
}

/** With its tags, worlds leave out what belongs to it. */
function taskOf({ interaction, context, trajectory_id, tags }: RecordedStep): Task {
  return {
    initial_state: interaction.state,
    ...(context && { context }),
    metadata: { trajectory_id, ...(tags && { tags }) },
  };
}

/** Each trajectory of a check has one episode, even after a restart. */
async function findOrStart(
  services: PlayServices,
  requester: Requester,
  { check, waiting }: Wanted,
  task: Task,
): Promise<Episode> {
  const place = `${check.id}/${waiting.position}`;
  // `isOfAgent` recognises the episode by the version of its UUID.
  const id = Bun.randomUUIDv5(place, "url");
  const known = await findEpisode(services, requester, id).catch(undefinedIfGone);
  if (known !== undefined && statusOf(known.row) !== "expired") return known;
  // An alarm refuses the episodes of agents, not those that measure whether the alarm is still right.
  const unwatched = { ...services, realityOf: async () => undefined };
  return await startEpisode(unwatched, requester, {
    id: known === undefined ? id : Bun.randomUUIDv5(`${place}/${nowMicros()}`, "url"),
    task,
    split: "test",
    environment: check.environment ?? "",
    revision: Number(check.environment_revision),
    index: undefined,
    seed: undefined,
    policy: undefined,
    apiKeyId: undefined,
  });
}

async function toReality(
  services: PlayServices,
  requester: Requester,
  { config, task }: Episode,
  samples: readonly RecordedStep[],
  { successReward }: Recordings,
): Promise<Reality> {
  const steps = samples.map(({ interaction, next_state, reward, done }) => ({
    action: interaction.action,
    observation: next_state,
    reward: reward ?? null,
    done: done === true,
    latencyMs: null,
  }));
  const reality = { first: samples[0]?.interaction.state, steps, successReward };
  const rules = { stop: config.stop };
  const turns: Turn[] = [];
  for (const step of hasSuccessRule(config, task) ? steps : []) {
    turns.push(step);
    const end = await findEnd(rules, task, { turns, steps: 0 }, (pattern, text) =>
      matches(services, requester, pattern, text),
    );
    if (end !== undefined) return { ...reality, succeeded: end.outcome === "success" };
  }
  return { ...reality, succeeded: isPaid(steps, successReward) };
}

function isPaid(steps: readonly { reward: number | null }[], atLeast: number): boolean {
  const last = steps.findLast(({ reward }) => reward !== null)?.reward ?? Number.NEGATIVE_INFINITY;
  return isAtLeast(last, atLeast);
}

/** What a real environment, or a recording of one, answered to the actions of an episode. */
interface Reality {
  /** The observation before the first action; undefined if unknown. */
  first: string | undefined;
  steps: readonly (Omit<RealStep, "latencyMs"> & { action: string; latencyMs: number | null })[];
  succeeded: boolean;
  /** The last reward of success, by which both sides of a recording are judged where no rule does. */
  successReward?: number;
}

/** An ended episode with its steps. */
interface PlayedEpisode {
  episode: Episode;
  steps: readonly StepRow[];
}

export async function readPlayed(
  services: { store: Store },
  requester: Requester,
  id: string,
): Promise<PlayedEpisode> {
  const episode = await findEpisode(services, requester, id).catch(orUnplayable);
  return { episode, steps: await selectSteps(services.store.reader(requester), id, 0) };
}

/** The texts of one replay are in memory until it is stored. */
export const maxCharacters = 16_000_000;
/** Few replays have more characters; they share a few places. */
const usualCharacters = 500_000;

/** The most steps that an episode has. */
const maxSteps = 1_000;

export interface ReplayRoom {
  turns: BackgroundTurns;
  /** For replays with many texts. */
  largeReplays: FairSlots;
}

/** Counts a replay's characters, and takes a place once there are many. `whenStored` gets the function that frees the place. */
function keepTexts(
  { largeReplays }: ReplayRoom,
  { accountId, signal }: Requester,
  whenStored: (() => void)[],
  tooLarge: (message: string) => RealEnvironmentError,
): (characters: number) => Promise<void> {
  let all = 0;
  return async (characters) => {
    all += characters;
    if (all > maxCharacters) throw tooLarge("The texts of one episode have more than 16 MB.");
    if (all > usualCharacters && whenStored.length === 0)
      whenStored.push(await largeReplays.take(accountId, signal));
  };
}

/**
 * Sends the actions of an episode to a real environment, reset to the same task, until the episode ends or the actions do. `whenStored`
 * gets what is to be called once the replay's texts are no longer in memory.
 */
export async function replayEpisode(
  room: ReplayRoom,
  requester: Requester,
  real: RealEnvironment,
  { episode: { task }, steps }: PlayedEpisode,
  whenStored: (() => void)[],
): Promise<Reality> {
  const { signal } = requester;
  const tooLarge = (message: string) => new RealEnvironmentError("too_large", message);
  const keep = keepTexts(room, requester, whenStored, tooLarge);
  await room.turns.take(signal);
  const session = await real.open(task, signal);
  const replayed: (RealStep & { action: string })[] = [];
  try {
    await keep(session.first.length);
    for (const { action } of steps) {
      await room.turns.take(signal);
      const step = await session.step(action, signal);
      await keep(step.observation.length);
      replayed.push({ action, ...step });
      if (step.done) break;
    }
  } finally {
    await session.close();
  }
  return { first: session.first, steps: replayed, succeeded: await real.succeeded(task, replayed) };
}

/** Where simulation and reality differ, and how each ended, as rows of a check. */
export function compareWith(
  { check_id, position }: Pick<RealityEpisodesTable, "check_id" | "position">,
  played: PlayedEpisode,
  reality: Reality,
): { episode: RealityEpisodesTable; steps: RealityStepsTable[] } {
  const { steps } = played;
  const { row } = played.episode;
  const at = { check_id, position };
  const seen = reality.steps.map((step) => toStorableText(step.observation));
  const differs = steps.findIndex(({ observation }, index) => observation !== seen[index]);
  const first = { action: "", observation: reality.first ?? "", reward: null, done: false, latencyMs: null };
  return {
    episode: {
      ...at,
      task_id: taskIdOf(row),
      episode_id: row.id,
      policy: row.policy,
      replayed: null,
      simulated: toFlag(succeededInSimulation(played, reality)),
      real: toFlag(reality.succeeded),
      simulated_reward: row.reward,
      real_reward: sumOf(reality.steps.map(({ reward }) => reward)),
      steps: steps.length,
      diverged_at: differs === -1 ? null : differs + 1,
      checked_at: nowMicros(),
      verbs: JSON.stringify([...new Set(steps.map(({ action }) => verbOf(action)))]),
    },
    steps: [
      ...(reality.first === undefined ? [] : [{ step: 0, ...first }]),
      ...reality.steps.map((step, index) => ({ ...step, step: index + 1 })),
    ].map(({ step, action, observation, reward, done, latencyMs }) => ({
      ...at,
      step,
      action: toStorableText(action),
      observation: toStorableText(observation),
      reward,
      done: toFlag(done),
      latency_micros: latencyMs === null ? null : Math.round(latencyMs * 1000),
    })),
  };
}

function sumOf(rewards: readonly (number | null)[]): number | null {
  const known = rewards.filter((reward) => reward !== null);
  return known.length === 0 ? null : known.reduce((sum, reward) => sum + reward, 0);
}

/** The reward that is a success if no rule defines success. */
const successReward = 1;

/** Whether a rule defines success in a task. A rule about the goal does not apply to a task without one. */
export function hasSuccessRule({ stop }: EnvironmentConfig, { goal }: Pick<Task, "goal">): boolean {
  return stop?.some((rule) => rule.outcome === "success" && (goal || !isAboutGoal(rule))) === true;
}

function succeededInSimulation({ episode, steps }: PlayedEpisode, reality: Reality): boolean {
  const { row, config, task } = episode;
  if (hasSuccessRule(config, task)) return row.outcome === "success";
  if (reality.successReward !== undefined) return isPaid(steps, reality.successReward);
  return row.reward !== null && isAtLeast(row.reward, successReward);
}

/** Identifies an episode's task, because episodes of one task depend on each other. */
function taskIdOf({ split, position, task }: Pick<EpisodesTable, "split" | "position" | "task">): string {
  if (position !== noPosition) return `${split}/${position}`;
  // Several recordings may be of one task if their tags say so.
  const recorded = recordedOf(JSON.parse(task) as Task)?.tags.task;
  return recorded === undefined ? `own/${Bun.hash.wyhash(task).toString(16)}` : `recorded/${recorded}`;
}

function orUnplayable(error: unknown): never {
  undefinedIfGone(error);
  throw new UnplayableError("It was deleted.");
}

const endings: readonly unknown[] = ["not_found", "conflict", "budget_exhausted", "unpriced_model"];

/** Why an episode could not be replayed, for people; undefined if the cause is not the episode, the world or the environment. */
export function describeFailure(error: unknown): string | undefined {
  if (error instanceof UnplayableError) return unplayable + error.message;
  if (error instanceof RealEnvironmentError) return error.message;
  if (error instanceof UpstreamError) return `The world did not answer: ${error.message}`;
  if (error instanceof UndecidedRuleError) return error.message;
  return error instanceof ServiceError && endings.includes(error.code) ? error.message : undefined;
}
