import type { DatasetSample } from "@presage/contract";
import { readTrajectory } from "../../datasets/samples.ts";
import type { Task } from "../../environments/environment.ts";
import { type Episode, findEpisode, statusOf } from "../../environments/episodes/episode.ts";
import { endUnfinished } from "../../environments/episodes/episodes-store.ts";
import { type StartServices, startEpisode } from "../../environments/episodes/start-episode.ts";
import { type Ask, type StepServices, stepEpisode } from "../../environments/episodes/step-episode.ts";
import { findEnd, type Turn } from "../../environments/episodes/turns.ts";
import { matches } from "../../environments/judge.ts";
import { conflict, undefinedIfGone } from "../../platform/errors.ts";
import type { BackgroundTurns } from "../../platform/limits/turns.ts";
import type { RealityChecksTable, RealityReplaysTable } from "../../platform/storage/schema/reality.ts";
import type { Requester } from "../../platform/storage/store.ts";
import { hasSuccessRule, type PlayedEpisode, type Reality, readPlayed } from "./compare.ts";

/** What a check keeps of the recorded trajectories that the environment plays. */
export interface Recordings {
  datasetId: string;
  revision: number;
  successReward: number;
}

export interface PlayServices extends StepServices, StartServices {
  /** Each step takes one, so that live requests come first. */
  turns: BackgroundTurns;
  /** Asks a deployment or a world behind live requests; what it costs is counted for a user. */
  askInBackground(spender: { accountId: string; userId: string }): Ask;
}

interface Wanted {
  check: RealityChecksTable;
  waiting: RealityReplaysTable;
}

/** A recorded step of an interaction; a conversation has none. */
type RecordedStep = DatasetSample & { interaction: NonNullable<DatasetSample["interaction"]> };

/** Plays the actions of a recorded trajectory in the environment, from its first state. What was recorded is the reality. */
export async function playRecording(
  services: PlayServices,
  requester: Requester,
  { check, waiting }: Wanted,
): Promise<{ played: PlayedEpisode; reality: Reality }> {
  const recordings = JSON.parse(check.recordings ?? "") as Recordings;
  const samples = await readRecording(services, requester, recordings, waiting.trajectory_id ?? "");
  const [first] = samples;
  if (first === undefined) throw conflict("The trajectory has no step with a state and an action.");
  const episode = await findOrStart(services, requester, { check, waiting }, taskOf(first));
  const ask = services.askInBackground({ accountId: check.account_id, userId: check.created_by });
  const { id } = episode.row;
  for (const [index, { interaction }] of samples.entries()) {
    await services.turns.take(requester.signal);
    // After a restart, steps that were taken are told again.
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
): Promise<RecordedStep[]> {
  const wanted = { id: datasetId, number: revision, trajectoryId };
  const { samples } = await readTrajectory(services, requester, wanted, { limit: undefined, after: -1 });
  const steps: RecordedStep[] = [];
  for await (const lines of samples.read()) {
    for (const line of lines) {
      const sample = JSON.parse(line) as DatasetSample;
      if (sample.interaction !== undefined) steps.push(sample as RecordedStep);
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

/** One episode for each trajectory of a check, also after a restart. */
async function findOrStart(
  services: PlayServices,
  requester: Requester,
  { check, waiting }: Wanted,
  task: Task,
): Promise<Episode> {
  const id = Bun.randomUUIDv5(`${check.id}/${waiting.position}`, "url");
  const known = await findEpisode(services, requester, id).catch(undefinedIfGone);
  if (known !== undefined && statusOf(known.row) !== "expired") return known;
  // An alarm refuses the episodes of agents, not those that measure whether it is still right.
  const unwatched = { ...services, realityOf: async () => undefined };
  return await startEpisode(unwatched, requester, {
    id: known === undefined ? id : Bun.randomUUIDv7(),
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
  const reality = { first: samples[0]?.interaction.state, steps };
  const rules = { stop: config.stop };
  const turns: Turn[] = [];
  for (const step of hasSuccessRule(config, task) ? steps : []) {
    turns.push(step);
    const end = await findEnd(rules, task, { turns, steps: 0 }, (pattern, text) =>
      matches(services, requester, pattern, text),
    );
    if (end !== undefined) return { ...reality, succeeded: end.outcome === "success" };
  }
  const paid = steps.findLast(({ reward }) => reward !== null)?.reward ?? Number.NEGATIVE_INFINITY;
  return { ...reality, succeeded: paid >= successReward };
}
