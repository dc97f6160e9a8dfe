import { findProblems, type Goal, median, none, showFigure, showMegabytes, table } from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import { type Figure, summarise } from "../predictions/predictions-report.ts";
import {
  fullRunsPlan,
  quickRunsPlan,
  type RunsPlan,
  type RunsResult,
  runRuns,
  type UploadSample,
} from "./runs.ts";

const mostImportS = 60;
const mostBytes = 300e6;
const mostReportMs = 2000;
const mostLiveRatio = 1.5;
const mostSmallUploadS = 120;
const leastLargeBytesPerS = 20e6;

const liveRatio = ({ live }: RunsResult): Figure | undefined =>
  summarise(
    live.flatMap(({ idleP99Us, besideP99Us, problem }) =>
      problem === undefined ? [besideP99Us / idleP99Us] : [],
    ),
  );

/** A value for each database, and whether the worst is good enough. Fewer of anything than the goal says prove nothing. */
const judge = <Sample extends { readonly database: string }>(
  text: string,
  samples: readonly Sample[],
  isWhole: boolean,
  show: (sample: Sample) => string,
  isMet: (sample: Sample) => boolean,
): Goal => ({
  text,
  measured: samples.map((one) => `${one.database} ${show(one)}`).join(", "),
  met: isWhole ? samples.every(isMet) : undefined,
});

const count = (value: number): string => value.toLocaleString("en-US");

const bytesPerS = ({ bytes, seconds }: UploadSample): number => bytes / seconds;

const judgeRuns = (result: RunsResult, plan: RunsPlan): Goal[] => {
  const hasAll = plan.predictions >= fullRunsPlan.predictions;
  const ratio = liveRatio(result)?.median;
  return [
    judge(
      `${count(plan.predictions)} imported predictions are judged by three rules, stored and reported within ${mostImportS} s and ${mostBytes / 1e6} MB`,
      result.imports,
      hasAll,
      ({ seconds, peakRssBytes }) => `${seconds.toFixed(1)} s, ${showMegabytes(peakRssBytes)} MB`,
      ({ seconds, reportMs, peakRssBytes }) =>
        seconds + reportMs / 1000 <= mostImportS && peakRssBytes <= mostBytes,
    ),
    judge(
      `The report of such a run takes at most ${mostReportMs / 1000} s`,
      result.imports,
      hasAll,
      ({ reportMs }) => `${(reportMs / 1000).toFixed(2)} s`,
      ({ reportMs }) => reportMs <= mostReportMs,
    ),
    {
      text: `Live predictions' p99 beside a run of 64 at once is at most ${mostLiveRatio} times that without one`,
      measured: ratio === undefined ? "not measured" : `${ratio.toFixed(2)} times`,
      met: ratio === undefined ? undefined : ratio <= mostLiveRatio,
    },
    judge(
      `${count(plan.smallSamples)} samples of 300 bytes come in within ${mostSmallUploadS} s and ${mostBytes / 1e6} MB`,
      result.smallUploads,
      plan.smallSamples >= fullRunsPlan.smallSamples,
      ({ seconds, peakRssBytes }) => `${seconds.toFixed(0)} s, ${showMegabytes(peakRssBytes)} MB`,
      ({ seconds, peakRssBytes }) => seconds <= mostSmallUploadS && peakRssBytes <= mostBytes,
    ),
    judge(
      `${count(plan.largeSamples)} samples of 10 KB come in at ${leastLargeBytesPerS / 1e6} MB a second or more, within ${mostBytes / 1e6} MB`,
      result.largeUploads,
      plan.largeSamples >= fullRunsPlan.largeSamples,
      (one) => `${(bytesPerS(one) / 1e6).toFixed(1)} MB/s, ${showMegabytes(one.peakRssBytes)} MB`,
      (one) => bytesPerS(one) >= leastLargeBytesPerS && one.peakRssBytes <= mostBytes,
    ),
  ];
};

const writeRuns = (result: RunsResult, { predictions, live, reports }: RunsPlan): string => {
  const uploads = [...result.smallUploads, ...result.largeUploads];
  const times = (values: readonly number[]) => (values.length === 0 ? none : median(values).toFixed(0));
  return `
Load is the machine's load average at the end of each measurement; the bench itself is part of it. Peak memory is a new process's.

${predictions.toLocaleString("en-US")} predictions, uploaded and judged by \`exact-match\`, \`state-change\` and \`token-f1\`; then the run's report, the median of
${reports}. The longest answer is that of \`GET /health\`, asked all the time while reports are made.

${table(
  [
    "database",
    "seconds",
    "of these upload",
    "processor time, s",
    "peak, MB",
    "report, ms",
    "longest answer, ms",
    "load",
  ],
  result.imports.map((one) => [
    one.database,
    one.seconds.toFixed(1),
    one.uploadSeconds.toFixed(1),
    one.cpuSeconds.toFixed(1),
    showMegabytes(one.peakRssBytes),
    one.reportMs.toFixed(0),
    one.slowestMs.toFixed(0),
    one.load.toFixed(1),
  ]),
)}

Live predictions over ${live.connections} connections, ${live.delayMs} ms at the upstream, without a run and beside one of ${live.concurrency} at once; ${live.rounds} rounds.

${table(
  ["p99 without, µs", "p99 beside, µs", "ratio", "the run's predictions/s", "load"],
  [
    [
      times(result.live.map(({ idleP99Us }) => idleP99Us)),
      times(result.live.map(({ besideP99Us }) => besideP99Us)),
      showFigure(liveRatio(result)),
      times(result.live.map(({ runPerSecond }) => runPerSecond)),
      result.live.at(-1)?.load.toFixed(1) ?? none,
    ],
  ],
)}

${table(
  ["upload of a data set", "samples", "bytes a sample", "seconds", "MB/s", "peak, MB", "load"],
  uploads.map((one) => [
    one.database,
    one.samples.toLocaleString("en-US"),
    (one.bytes / one.samples).toFixed(0),
    one.seconds.toFixed(1),
    (bytesPerS(one) / 1e6).toFixed(1),
    showMegabytes(one.peakRssBytes),
    one.load.toFixed(1),
  ]),
)}
`;
};

export const runsPart: Part = {
  title: "Data sets, runs and reports",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickRunsPlan : fullRunsPlan;
    const result = await runRuns(group, await upstream(), plan);
    return {
      goals: judgeRuns(result, plan),
      problems: findProblems(result.live, ({ round }) => `predictions beside a run, round ${round + 1}`),
      text: writeRuns(result, plan),
    };
  },
};
