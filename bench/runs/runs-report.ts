import {
  type Figure,
  figureOf,
  findProblems,
  type Goal,
  judge,
  judgeDatabases,
  median,
  none,
  showCount,
  showFigure,
  showMegabytes,
  showTimes,
  table,
  tableOf,
  withoutProblems,
} from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import {
  fullRunsPlan,
  quickRunsPlan,
  type RunsPlan,
  type RunsResult,
  runRuns,
  type UploadSample,
} from "./runs.ts";

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

const mostImportS = 60;
const mostBytes = 300e6;
const mostReportMs = 2000;
const mostLiveRatio = 1.5;
const mostSmallUploadS = 120;
const leastLargeBytesPerS = 20e6;

const liveRatio = ({ live }: RunsResult): Figure | undefined =>
  figureOf(withoutProblems(live), ({ idleP99Us, besideP99Us }) => besideP99Us / idleP99Us);

const bytesPerS = ({ bytes, seconds }: UploadSample): number => bytes / seconds;

const judgeRuns = (result: RunsResult, plan: RunsPlan): Goal[] => {
  const hasAll = plan.predictions >= fullRunsPlan.predictions;
  return [
    judgeDatabases(
      `${showCount(plan.predictions)} imported predictions are judged by three rules, stored and reported within ${mostImportS} s and ${mostBytes / 1e6} MB`,
      result.imports,
      hasAll,
      ({ seconds, reportMs, peakRssBytes }) =>
        seconds + reportMs / 1000 <= mostImportS && peakRssBytes <= mostBytes,
      ({ seconds, peakRssBytes }) => `${seconds.toFixed(1)} s, ${showMegabytes(peakRssBytes)} MB`,
    ),
    judgeDatabases(
      `The report of such a run takes at most ${mostReportMs / 1000} s`,
      result.imports,
      hasAll,
      ({ reportMs }) => reportMs <= mostReportMs,
      ({ reportMs }) => `${(reportMs / 1000).toFixed(2)} s`,
    ),
    judge(
      `Live predictions' p99 beside a run of 64 at once is at most ${mostLiveRatio} times that without one`,
      liveRatio(result)?.median,
      (ratio) => ratio <= mostLiveRatio,
      showTimes,
    ),
    judgeDatabases(
      `${showCount(plan.smallSamples)} samples of 300 bytes come in within ${mostSmallUploadS} s and ${mostBytes / 1e6} MB`,
      result.smallUploads,
      plan.smallSamples >= fullRunsPlan.smallSamples,
      ({ seconds, peakRssBytes }) => seconds <= mostSmallUploadS && peakRssBytes <= mostBytes,
      ({ seconds, peakRssBytes }) => `${seconds.toFixed(0)} s, ${showMegabytes(peakRssBytes)} MB`,
    ),
    judgeDatabases(
      `${showCount(plan.largeSamples)} samples of 10 KB come in at ${leastLargeBytesPerS / 1e6} MB a second or more, within ${mostBytes / 1e6} MB`,
      result.largeUploads,
      plan.largeSamples >= fullRunsPlan.largeSamples,
      (one) => bytesPerS(one) >= leastLargeBytesPerS && one.peakRssBytes <= mostBytes,
      (one) => `${(bytesPerS(one) / 1e6).toFixed(1)} MB/s, ${showMegabytes(one.peakRssBytes)} MB`,
    ),
  ];
};

const writeRuns = (result: RunsResult, { predictions, live, reports }: RunsPlan): string => {
  const times = (values: readonly number[]) => (values.length === 0 ? none : median(values).toFixed(0));
  return `
Load is the machine's load average at the end of each measurement; the bench itself is part of it. Peak memory is a new process's.

${showCount(predictions)} predictions, uploaded and judged by \`exact-match\`, \`state-change\` and \`token-f1\`; then the run's report, the median of
${reports}. The longest answer is that of \`GET /health\`, asked all the time while reports are made.

${tableOf(result.imports, [
  ["database", ({ database }) => database],
  ["seconds", ({ seconds }) => seconds.toFixed(1)],
  ["of these upload", ({ uploadSeconds }) => uploadSeconds.toFixed(1)],
  ["processor time, s", ({ cpuSeconds }) => cpuSeconds.toFixed(1)],
  ["peak, MB", ({ peakRssBytes }) => showMegabytes(peakRssBytes)],
  ["report, ms", ({ reportMs }) => reportMs.toFixed(0)],
  ["longest answer, ms", ({ slowestMs }) => slowestMs.toFixed(0)],
  ["load", ({ load }) => load.toFixed(1)],
])}

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

${tableOf(
  [...result.smallUploads, ...result.largeUploads],
  [
    ["upload of a data set", ({ database }) => database],
    ["samples", ({ samples }) => showCount(samples)],
    ["bytes a sample", ({ bytes, samples }) => (bytes / samples).toFixed(0)],
    ["seconds", ({ seconds }) => seconds.toFixed(1)],
    ["MB/s", (one) => (bytesPerS(one) / 1e6).toFixed(1)],
    ["peak, MB", ({ peakRssBytes }) => showMegabytes(peakRssBytes)],
    ["load", ({ load }) => load.toFixed(1)],
  ],
)}
`;
};
