import {
  type Figure,
  figureOf,
  type Goal,
  judgeDatabases,
  showCount,
  showFigure,
  showMegabytes,
  tableOf,
} from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import {
  type EpisodesPlan,
  type EpisodesSample,
  fullEpisodesPlan,
  quickEpisodesPlan,
  runEpisodes,
  type StepsRound,
} from "./episodes.ts";

export const episodesPart: Part = {
  title: "Episodes",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickEpisodesPlan : fullEpisodesPlan;
    const samples = await runEpisodes(group, await upstream(), plan);
    return { goals: judgeEpisodes(samples, plan), problems: [], text: writeEpisodes(samples, plan) };
  },
};

const mostBytes = 300e6;
const mostStepUs = 100;
const fewestStartsPerS = 600;

const stepsFigure = (
  { rounds }: EpisodesSample,
  concurrency: number,
  read: (round: StepsRound) => number,
): Figure | undefined =>
  figureOf(
    rounds.filter((round) => round.concurrency === concurrency),
    read,
  );

/** How much more processor time a step takes than a prediction of its prompt. */
const addedUs = (sample: EpisodesSample, concurrency: number): Figure | undefined =>
  stepsFigure(sample, concurrency, ({ stepUs, predictionUs }) => stepUs - predictionUs);

/** The goal is for as many concurrent steps as in a training run of hundreds of rollouts; the report also shows fewer. */
const judgeEpisodes = (samples: readonly EpisodesSample[], { open, concurrency }: EpisodesPlan): Goal[] => {
  const most = Math.max(...concurrency);
  const others = concurrency.filter((count) => count !== most);
  const isWhole = open >= fullEpisodesPlan.open;
  return [
    judgeDatabases(
      `${showCount(open)} open episodes take at most ${mostBytes / 1e6} MB`,
      samples,
      isWhole,
      ({ memory }) => memory.peakRssBytes <= mostBytes,
      ({ memory }) => `${showMegabytes(memory.peakRssBytes)} MB`,
    ),
    judgeDatabases(
      `At least ${fewestStartsPerS} episodes start in a second`,
      samples,
      isWhole,
      ({ memory }) => memory.startsPerS >= fewestStartsPerS,
      ({ memory }) => memory.startsPerS.toFixed(0),
    ),
    judgeDatabases(
      `With ${most} at once, a step takes at most ${mostStepUs} µs of processor time more than a prediction`,
      samples,
      true,
      (sample) => (addedUs(sample, most)?.median ?? Number.NaN) <= mostStepUs,
      (sample) => {
        const beside = others.map((count) => `; ${showFigure(addedUs(sample, count))} with ${count}`);
        return `${showFigure(addedUs(sample, most))} µs${beside.join("")}`;
      },
    ),
  ];
};

const writeEpisodes = (
  samples: readonly EpisodesSample[],
  { open, steps, concurrency, rounds }: EpisodesPlan,
): string => {
  const rows = samples.flatMap((sample) => concurrency.map((count) => ({ sample, count })));
  const show =
    (read: (round: StepsRound) => number) =>
    ({ sample, count }: (typeof rows)[number]) =>
      showFigure(stepsFigure(sample, count, read));
  return `
${showCount(open)} episodes are opened in a new process, 64 at once. Then ${showCount(steps)} steps over HTTP, ${concurrency.join(" and ")} at once, in episodes of 20, and as many predictions of the
same prompt, in turns; ${rounds} rounds, figures are medians with their range, and what is more is taken within a round; no delay at the upstream. On SQLite each step is on disk when it is answered; PostgreSQL runs with \`fsync = off\` and \`synchronous_commit = off\`. Processor time is Presage's, with all its
threads, without that of PostgreSQL.

${tableOf(samples, [
  ["database", ({ database }) => database],
  ["starts/s", ({ memory }) => memory.startsPerS.toFixed(0)],
  ["before, MB", ({ memory }) => showMegabytes(memory.rssBeforeBytes)],
  ["open, MB", ({ memory }) => showMegabytes(memory.rssBytes)],
  ["peak, MB", ({ memory }) => showMegabytes(memory.peakRssBytes)],
])}

${tableOf(rows, [
  ["database", ({ sample }) => sample.database],
  ["at once", ({ count }) => String(count)],
  ["a prediction, µs", show(({ predictionUs }) => predictionUs)],
  ["a step, µs", show(({ stepUs }) => stepUs)],
  ["more, µs", ({ sample, count }) => showFigure(addedUs(sample, count))],
  ["predictions/s", show(({ predictionsPerS }) => predictionsPerS)],
  ["steps/s", show(({ stepsPerS }) => stepsPerS)],
])}
`;
};
