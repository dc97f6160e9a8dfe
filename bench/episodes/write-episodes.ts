import { type Figure, summarise } from "../report/figures.ts";
import type { Goal } from "../report/goal.ts";
import { showFigure, showMegabytes, table } from "../report/markdown.ts";
import type { EpisodesPlan } from "./plan-episodes.ts";
import { fullEpisodesPlan } from "./plan-episodes.ts";
import type { EpisodesSample } from "./run-episodes.ts";

const mostBytes = 300e6;
const mostStepUs = 100;

/** How much more processor time a step takes than a prediction of its prompt. */
const addedUs = ({ rounds }: EpisodesSample): Figure | undefined =>
  summarise(rounds.map(({ stepUs, predictionUs }) => stepUs - predictionUs));

const of = (samples: readonly EpisodesSample[], show: (sample: EpisodesSample) => string): string =>
  samples.map((sample) => `${sample.database} ${show(sample)}`).join(", ");

export const judgeEpisodes = (samples: readonly EpisodesSample[], { open }: EpisodesPlan): Goal[] => {
  const isWhole = open >= fullEpisodesPlan.open;
  return [
    {
      text: `${open.toLocaleString("en-US")} open episodes take at most ${mostBytes / 1e6} MB`,
      measured: of(samples, ({ memory }) => `${showMegabytes(memory.peakRssBytes)} MB`),
      met: isWhole ? samples.every(({ memory }) => memory.peakRssBytes <= mostBytes) : undefined,
    },
    {
      text: `A step takes at most ${mostStepUs} µs of processor time more than a prediction`,
      measured: of(samples, (sample) => `${showFigure(addedUs(sample))} µs`),
      met: samples.every((sample) => (addedUs(sample)?.median ?? Number.NaN) <= mostStepUs),
    },
  ];
};

export const writeEpisodes = (
  samples: readonly EpisodesSample[],
  { open, steps, concurrency, rounds }: EpisodesPlan,
): string => {
  const figureOf = (sample: EpisodesSample, read: (round: EpisodesSample["rounds"][number]) => number) =>
    showFigure(summarise(sample.rounds.map(read)));
  return `
${open.toLocaleString("en-US")} episodes are opened in a new process. Then ${steps.toLocaleString("en-US")} steps over HTTP, ${concurrency} at once, in episodes of 20, and as many predictions of the
same prompt, in turns; ${rounds} rounds, no delay at the upstream. Each step is on disk when it is answered. Processor time is Presage's, with all its
threads, without that of PostgreSQL.

${table(
  [
    "database",
    "before, MB",
    "open, MB",
    "peak, MB",
    "a prediction, µs",
    "a step, µs",
    "more, µs",
    "predictions/s",
    "steps/s",
  ],
  samples.map((sample) => [
    sample.database,
    showMegabytes(sample.memory.rssBeforeBytes),
    showMegabytes(sample.memory.rssBytes),
    showMegabytes(sample.memory.peakRssBytes),
    figureOf(sample, ({ predictionUs }) => predictionUs),
    figureOf(sample, ({ stepUs }) => stepUs),
    showFigure(addedUs(sample)),
    figureOf(sample, ({ predictionsPerS }) => predictionsPerS),
    figureOf(sample, ({ stepsPerS }) => stepsPerS),
  ]),
)}
`;
};
