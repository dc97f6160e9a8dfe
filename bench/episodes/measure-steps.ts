import { loadavg } from "node:os";
import type { RunningPresage } from "../evaluations/start-presage.ts";
import { readCpuMs, readMemory } from "../host/process-account.ts";
import { atOnce } from "../load/at-once.ts";
import type { EpisodesPlan } from "./plan-episodes.ts";
import { askPrediction, openEpisode, takeStep } from "./play-episodes.ts";

export interface OpenEpisodes {
  readonly episodes: number;
  readonly startsPerS: number;
  readonly rssBeforeBytes: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
}

export interface StepsRound {
  readonly concurrency: number;
  /** Processor time of Presage. */
  readonly stepUs: number;
  readonly predictionUs: number;
  readonly stepsPerS: number;
  readonly predictionsPerS: number;
  readonly load: number;
}

const openAtOnce = 64;
/** Steps of one episode before the next one has its turn: an episode has few. */
const stepsEach = 20;

export const openMany = async (presage: RunningPresage, { open }: EpisodesPlan): Promise<OpenEpisodes> => {
  const { pid } = presage.process;
  const { rssBytes: rssBeforeBytes } = readMemory(pid);
  const startedAtMs = performance.now();
  const ids = await openSome(presage, open);
  const startsPerS = (ids.length * 1000) / (performance.now() - startedAtMs);
  const { rssBytes, peakRssBytes } = readMemory(pid);
  return { episodes: ids.length, startsPerS, rssBeforeBytes, rssBytes, peakRssBytes };
};

const openSome = async (presage: RunningPresage, count: number): Promise<string[]> => {
  const ids: string[] = [];
  await atOnce(count, openAtOnce, async () => {
    ids.push(await openEpisode(presage));
  });
  return ids;
};

/** Steps and predictions of the same prompt, in turns. */
export const measureSteps = async (presage: RunningPresage, plan: EpisodesPlan): Promise<StepsRound[]> => {
  const measured: StepsRound[] = [];
  for (const concurrency of plan.concurrency)
    measured.push(...(await measureStepsAtOnce(presage, plan, concurrency)));
  return measured;
};

const measureStepsAtOnce = async (
  presage: RunningPresage,
  { rounds, steps }: EpisodesPlan,
  concurrency: number,
): Promise<StepsRound[]> => {
  const measured: StepsRound[] = [];
  const predict = () => load(presage, steps, concurrency, () => askPrediction(presage));
  const step = async () => {
    const episodes = Math.ceil(steps / stepsEach);
    const ids = await openSome(presage, episodes);
    return await load(presage, episodes, concurrency, async (episode) => {
      for (let one = 0; one < stepsEach; one += 1) await takeStep(presage, ids[episode] ?? "");
    });
  };
  // The JIT compiles the hot paths.
  await predict();
  await step();
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
