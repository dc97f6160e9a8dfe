import { loadavg } from "node:os";
import { call, post } from "../lib/api.ts";
import { median } from "../lib/figures.ts";
import { atOnce } from "../lib/load.ts";
import { type DatabaseName, openDatabases } from "../lib/postgres.ts";
import type { ProcessGroup } from "../lib/processes.ts";
import { type RunningPresage, startPresage } from "../lib/targets.ts";
import type { Upstream } from "../lib/upstream.ts";
import { readCpuMs, readMemory } from "../lib/usage.ts";

export const fullEpisodesPlan = {
  /** Episodes that are open at the same time. */
  open: 5_000,
  rounds: 5,
  /** Steps, and as many predictions, of a round. */
  steps: 20_000,
  /** Numbers of concurrent steps. Each is measured; the goal is for the largest. */
  concurrency: [64, 256],
};
export type EpisodesPlan = typeof fullEpisodesPlan;

export const quickEpisodesPlan: EpisodesPlan = { open: 500, rounds: 1, steps: 5_120, concurrency: [64, 256] };

export interface EpisodesSample {
  readonly database: DatabaseName;
  readonly memory: OpenEpisodes;
  readonly rounds: readonly StepsRound[];
}

/** Many open episodes, and what a step costs compared with a prediction, on both databases. */
export const runEpisodes = async (
  group: ProcessGroup,
  upstream: Upstream,
  plan: EpisodesPlan,
): Promise<EpisodesSample[]> => {
  const databases = await openDatabases(group, "episodes");
  await upstream.set(0);
  const samples: EpisodesSample[] = [];
  for (const { database, url } of databases.of.episodes) {
    const presage = await startPresage(group, upstream.origin, `episodes-${database}`, url);
    await createEnvironment(presage);
    const memory = await openMany(presage, plan);
    const rounds: StepsRound[] = [];
    for (const concurrency of plan.concurrency)
      rounds.push(...(await measureSteps(presage, plan, concurrency)));
    await group.stop(presage.process);
    samples.push({ database, memory, rounds });
    const memoryMb = (memory.rssBytes / 1e6).toFixed(0);
    process.stdout.write(
      `episodes   ${database}: ${memory.episodes} open, ${memoryMb} MB${describe(rounds, plan)}\n`,
    );
  }
  await databases.stop();
  return samples;
};

const describe = (rounds: readonly StepsRound[], { concurrency }: EpisodesPlan): string =>
  concurrency
    .map((count) => {
      const some = rounds.filter((round) => round.concurrency === count);
      const stepUs = median(some.map((round) => round.stepUs));
      const predictionUs = median(some.map((round) => round.predictionUs));
      return `; ${count} at once: a step ${stepUs.toFixed(0)} µs, a prediction ${predictionUs.toFixed(0)} µs of processor time`;
    })
    .join("");

const environment = "bench";
const state = "You are in a small room. There is a wooden door, which is closed, and a lamp on the table.";
const action = "open the wooden door";

/** An environment without rules, so that a step is only a stored prediction. */
const createEnvironment = async (presage: RunningPresage): Promise<void> => {
  await post(presage, "/v1/environments", {
    name: environment,
    max_steps: 1_000,
    params: { temperature: 0 },
  });
  const task = JSON.stringify({ split: "train", initial_state: state });
  await call(presage, "POST", `/v1/environments/${environment}/tasks`, `${task}\n`);
};

const openAtOnce = 64;

const openSome = async (presage: RunningPresage, count: number): Promise<string[]> => {
  const ids: string[] = [];
  await atOnce(count, openAtOnce, async () => {
    const task = { environment, split: "train", index: 0 };
    ids.push((await post<{ episode_id: string }>(presage, "/v1/episodes", task)).episode_id);
  });
  return ids;
};

interface OpenEpisodes {
  readonly episodes: number;
  readonly startsPerS: number;
  readonly rssBeforeBytes: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
}

const openMany = async (presage: RunningPresage, { open }: EpisodesPlan): Promise<OpenEpisodes> => {
  const { pid } = presage.process;
  const { rssBytes: rssBeforeBytes } = readMemory(pid);
  const startedAtMs = performance.now();
  const ids = await openSome(presage, open);
  const startsPerS = (ids.length * 1000) / (performance.now() - startedAtMs);
  const { rssBytes, peakRssBytes } = readMemory(pid);
  return { episodes: ids.length, startsPerS, rssBeforeBytes, rssBytes, peakRssBytes };
};

export interface StepsRound {
  readonly concurrency: number;
  /** Processor time of Presage. */
  readonly stepUs: number;
  readonly predictionUs: number;
  readonly stepsPerS: number;
  readonly predictionsPerS: number;
  readonly load: number;
}

/** Steps of one episode before the next one has its turn: an episode has few. */
const stepsEach = 20;

/** Steps and predictions of the same prompt, in turns. */
const measureSteps = async (
  presage: RunningPresage,
  { rounds, steps }: EpisodesPlan,
  concurrency: number,
): Promise<StepsRound[]> => {
  const send = async (path: string, body: string): Promise<void> => {
    await (await call(presage, "POST", path, body)).arrayBuffer();
  };
  const predict = () =>
    load(presage, steps, concurrency, () =>
      // The same request that a step makes.
      send("/v1/predict", JSON.stringify({ interaction: { state, action }, params: { temperature: 0 } })),
    );
  const step = async () => {
    const episodes = Math.ceil(steps / stepsEach);
    const ids = await openSome(presage, episodes);
    return await load(presage, episodes, concurrency, async (episode) => {
      for (let one = 0; one < stepsEach; one += 1)
        await send(`/v1/episodes/${ids[episode]}/step`, JSON.stringify({ action }));
    });
  };
  // The JIT compiles the hot paths.
  await predict();
  await step();
  const measured: StepsRound[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const ofPredictions = await predict();
    const ofSteps = await step();
    const stepCount = Math.ceil(steps / stepsEach) * stepsEach;
    measured.push({
      concurrency,
      stepUs: (ofSteps.cpuMs * 1000) / stepCount,
      predictionUs: (ofPredictions.cpuMs * 1000) / steps,
      stepsPerS: stepCount / ofSteps.seconds,
      predictionsPerS: steps / ofPredictions.seconds,
      load: loadavg()[0] ?? 0,
    });
  }
  return measured;
};

const load = async (
  { process }: RunningPresage,
  count: number,
  concurrency: number,
  work: (index: number) => Promise<void>,
): Promise<{ cpuMs: number; seconds: number }> => {
  const cpuBeforeMs = readCpuMs(process.pid);
  const startedAtMs = performance.now();
  await atOnce(count, concurrency, work);
  return {
    cpuMs: readCpuMs(process.pid) - cpuBeforeMs,
    seconds: (performance.now() - startedAtMs) / 1000,
  };
};
