import { type Goal, showFigure, showMegabytes, table } from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import { type Figure, summarise } from "../predictions/predictions-report.ts";
import {
  type EpisodesPlan,
  type EpisodesSample,
  fullEpisodesPlan,
  quickEpisodesPlan,
  runEpisodes,
  type StepsRound,
} from "./episodes.ts";

const mostBytes = 300e6;
const mostStepUs = 100;
const fewestStartsPerS = 600;

const roundsOf = ({ rounds }: EpisodesSample, concurrency: number) =>
  rounds.filter((round) => round.concurrency === concurrency);

/** How much more processor time a step takes than a prediction of its prompt. */
const addedUs = (sample: EpisodesSample, concurrency: number): Figure | undefined =>
  summarise(roundsOf(sample, concurrency).map(({ stepUs, predictionUs }) => stepUs - predictionUs));

const of = (samples: readonly EpisodesSample[], show: (sample: EpisodesSample) => string): string =>
  samples.map((sample) => `${sample.database} ${show(sample)}`).join(", ");

/** Steps are judged with as many at once as in a training run of hundreds of rollouts. What fewer take is said beside it. */
const judgeEpisodes = (samples: readonly EpisodesSample[], { open, concurrency }: EpisodesPlan): Goal[] => {
  const most = Math.max(...concurrency);
  const others = concurrency.filter((count) => count !== most);
  const isWhole = open >= fullEpisodesPlan.open;
  return [
    {
      text: `${open.toLocaleString("en-US")} open episodes take at most ${mostBytes / 1e6} MB`,
      measured: of(samples, ({ memory }) => `${showMegabytes(memory.peakRssBytes)} MB`),
      met: isWhole ? samples.every(({ memory }) => memory.peakRssBytes <= mostBytes) : undefined,
    },
    {
      text: `At least ${fewestStartsPerS} episodes start in a second`,
      measured: of(samples, ({ memory }) => `${memory.startsPerS.toFixed(0)}`),
      met: isWhole ? samples.every(({ memory }) => memory.startsPerS >= fewestStartsPerS) : undefined,
    },
    {
      text: `With ${most} at once, a step takes at most ${mostStepUs} µs of processor time more than a prediction`,
      measured: of(samples, (sample) => {
        const beside = others.map((count) => `; ${showFigure(addedUs(sample, count))} with ${count}`);
        return `${showFigure(addedUs(sample, most))} µs${beside.join("")}`;
      }),
      met: samples.every((sample) => (addedUs(sample, most)?.median ?? Number.NaN) <= mostStepUs),
    },
  ];
};

const writeEpisodes = (
  samples: readonly EpisodesSample[],
  { open, steps, concurrency, rounds }: EpisodesPlan,
): string => {
  return `
${open.toLocaleString("en-US")} episodes are opened in a new process, 64 at once. Then ${steps.toLocaleString("en-US")} steps over HTTP, ${concurrency.join(" and ")} at once, in episodes of 20, and as many predictions of the
same prompt, in turns; ${rounds} rounds, figures are medians with their range, and what is more is taken within a round; no delay at the upstream. On SQLite each step is on disk when it is answered; PostgreSQL runs with \`fsync = off\` and \`synchronous_commit = off\`. Processor time is Presage's, with all its
threads, without that of PostgreSQL.

${table(
  ["database", "starts/s", "before, MB", "open, MB", "peak, MB"],
  samples.map(({ database, memory }) => [
    database,
    memory.startsPerS.toFixed(0),
    showMegabytes(memory.rssBeforeBytes),
    showMegabytes(memory.rssBytes),
    showMegabytes(memory.peakRssBytes),
  ]),
)}

${table(
  ["database", "at once", "a prediction, µs", "a step, µs", "more, µs", "predictions/s", "steps/s"],
  samples.flatMap((sample) =>
    concurrency.map((count) => {
      const figureOf = (read: (round: StepsRound) => number) =>
        showFigure(summarise(roundsOf(sample, count).map(read)));
      return [
        sample.database,
        String(count),
        figureOf(({ predictionUs }) => predictionUs),
        figureOf(({ stepUs }) => stepUs),
        showFigure(addedUs(sample, count)),
        figureOf(({ predictionsPerS }) => predictionsPerS),
        figureOf(({ stepsPerS }) => stepsPerS),
      ];
    }),
  ),
)}
`;
};

export const episodesPart: Part = {
  title: "Episodes",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickEpisodesPlan : fullEpisodesPlan;
    const samples = await runEpisodes(group, await upstream(), plan);
    return { goals: judgeEpisodes(samples, plan), problems: [], text: writeEpisodes(samples, plan) };
  },
};
