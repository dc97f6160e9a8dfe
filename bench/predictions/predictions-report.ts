import {
  compareRounds,
  type Figure,
  figureOf,
  findProblems,
  type Goal,
  judge,
  none,
  showCount,
  showFigure,
  showMegabytes,
  showTimes,
  tableOf,
  withoutProblems,
} from "../lib/figures.ts";
import { installPortkey } from "../lib/machine.ts";
import type { Part } from "../lib/part.ts";
import { predictBody } from "../lib/payload.ts";
import { type TargetName, targetTitles } from "../lib/targets.ts";
import {
  fullPredictionsPlan,
  type InFlightResult,
  type PredictionsPlan,
  type PredictionsResult,
  quickPredictionsPlan,
  runPredictions,
  type Sample,
  type Scenario,
} from "./predictions.ts";

export const predictionsPart: Part = {
  title: "Predictions",
  measure: async ({ group, upstream, quick, targets }) => {
    if (targets.includes("portkey")) await installPortkey();
    const plan = quick ? quickPredictionsPlan : fullPredictionsPlan;
    const result = await runPredictions(group, await upstream(), targets, plan);
    const failed = [...result.inFlight].flatMap(([name, { sent, succeeded }]) =>
      succeeded === sent ? [] : [`${name}: ${sent - succeeded} of ${sent} predictions in flight failed`],
    );
    return {
      goals: judgePredictions(result, plan),
      problems: [
        ...findProblems(
          result.samples,
          ({ target, scenario: { connections, delayMs }, round }) =>
            `${target} at ${connections} connections, ${delayMs} ms, round ${round + 1}`,
        ),
        ...failed,
      ],
      text: writePredictions(result, plan),
    };
  },
};

type Place = Omit<Scenario, "durationS">;
type Measure = "requestsPerSecond" | "p50Us" | "p99Us" | "cpuUsPerRequest";

/** The samples of one target in one row of the tables. */
const samplesAt = ({ samples }: PredictionsResult, target: TargetName, place: Place): Sample[] =>
  withoutProblems(samples).filter(
    (sample) =>
      sample.target === target &&
      sample.scenario.connections === place.connections &&
      sample.scenario.delayMs === place.delayMs,
  );

const compareTargets = (
  result: PredictionsResult,
  [target, other]: readonly [TargetName, TargetName],
  place: Place,
  measure: Measure,
  compare?: (own: number, other: number) => number,
): Figure | undefined =>
  compareRounds(
    samplesAt(result, target, place),
    samplesAt(result, other, place),
    (sample) => sample[measure],
    compare,
  );

const cpuRatio = (result: PredictionsResult, target: TargetName, other: TargetName, place: Place) =>
  compareTargets(result, [target, other], place, "cpuUsPerRequest");
const addedUs = (result: PredictionsResult, target: TargetName, other: TargetName, place: Place) =>
  compareTargets(result, [target, other], place, "p50Us", (own, its) => own - its);

const judgePredictions = (result: PredictionsResult, plan: PredictionsPlan): Goal[] => {
  const busy: Place = { connections: 32, delayMs: 0 };
  const alone: Place = { connections: 1, delayMs: 0 };
  const start = result.starts.get("presage");
  const added = addedUs(result, "presage", "direct", alone)?.median;
  const rest = result.atRest.get("presage")?.rssBytes;
  return [
    judge(
      "At 32 connections with no delay, at most 4 times nginx's processor time a request",
      cpuRatio(result, "presage", "nginx", busy)?.median,
      (ratio) => ratio <= 4,
      showTimes,
    ),
    judge(
      "At 32 connections with no delay, at most 1/15 of Portkey's processor time a request",
      cpuRatio(result, "presage", "portkey", busy)?.median,
      (ratio) => ratio <= 1 / 15,
      (ratio) => `1/${(1 / ratio).toFixed(1)}`,
    ),
    judge(
      "At 1 connection, at most 0.3 ms more than the direct call at the median",
      added === undefined ? undefined : added / 1000,
      (ms) => ms <= 0.3,
      (ms) => `${ms.toFixed(3)} ms`,
    ),
    judgeInFlight(result.inFlight.get("presage"), plan.inFlight.rollouts),
    judge(
      "Ready within 0.5 s of the start, with and without a database",
      start === undefined ? undefined : Math.max(start.firstMs, start.againMs),
      (ms) => ms <= 500,
      (ms) => `${ms.toFixed(0)} ms`,
    ),
    judge(
      "Under 90 MB at rest",
      rest,
      (bytes) => bytes <= 90e6,
      (bytes) => `${showMegabytes(bytes)} MB`,
    ),
  ];
};

/** If the predictions were never all at the upstream at the same time, the run was easier and proves nothing. */
const judgeInFlight = (flight: InFlightResult | undefined, rollouts: number): Goal =>
  judge(
    `${showCount(rollouts)} predictions in flight at once all succeed, within 260 MB`,
    flight?.peakRssBytes,
    (bytes) =>
      flight?.succeeded === flight?.sent && (flight?.peakAtUpstream ?? 0) >= rollouts && bytes <= 260e6,
    (bytes) =>
      `${flight?.succeeded} of ${flight?.sent}, ${flight?.peakAtUpstream} at once, ${showMegabytes(bytes)} MB`,
  );

const loadTable = (result: PredictionsResult, plan: PredictionsPlan, delayMs: number): string => {
  const rows = plan.scenarios
    .filter((scenario) => scenario.delayMs === delayMs)
    .flatMap((scenario) => result.targets.map((target) => ({ scenario, target })));
  const show =
    (measure: Measure, scale?: number) =>
    ({ scenario, target }: (typeof rows)[number]) =>
      showFigure(
        figureOf(samplesAt(result, target, scenario), (sample) => sample[measure]),
        scale,
      );
  return tableOf(rows, [
    ["connections", ({ scenario }) => String(scenario.connections)],
    ["target", ({ target }) => targetTitles[target]],
    ["requests/s", show("requestsPerSecond")],
    ["p50, ms", show("p50Us", 1 / 1000)],
    ["p99, ms", show("p99Us", 1 / 1000)],
    ["processor time a request, µs", show("cpuUsPerRequest")],
  ]);
};

const ratioTable = (result: PredictionsResult, { scenarios }: PredictionsPlan): string =>
  tableOf(scenarios, [
    ["delay, ms", ({ delayMs }) => String(delayMs)],
    ["connections", ({ connections }) => String(connections)],
    ["CPU time / nginx's", (place) => showFigure(cpuRatio(result, "presage", "nginx", place))],
    ["CPU time / the bare Bun proxy's", (place) => showFigure(cpuRatio(result, "presage", "bun", place))],
    ["Portkey's CPU time / Presage's", (place) => showFigure(cpuRatio(result, "portkey", "presage", place))],
    ["p50 above direct, ms", (place) => showFigure(addedUs(result, "presage", "direct", place), 1 / 1000)],
    ["p50 above nginx, ms", (place) => showFigure(addedUs(result, "presage", "nginx", place), 1 / 1000)],
  ]);

const flightTable = (result: PredictionsResult): string => {
  const show = (write: (flight: InFlightResult) => string) => (name: keyof typeof targetTitles) => {
    const flight = name === "direct" ? undefined : result.inFlight.get(name);
    return flight === undefined ? none : write(flight);
  };
  return tableOf(
    [...result.starts.keys()],
    [
      ["target", (name) => targetTitles[name]],
      ["succeeded", show(({ succeeded, sent }) => `${succeeded} of ${sent}`)],
      ["concurrent at the upstream", show(({ peakAtUpstream }) => String(peakAtUpstream))],
      ["whole run, s", show(({ durationMs }) => (durationMs / 1000).toFixed(1))],
      ["slowest prediction, s", show(({ slowestMs }) => (slowestMs / 1000).toFixed(1))],
      ["peak memory, MB", show(({ peakRssBytes }) => showMegabytes(peakRssBytes))],
    ],
  );
};

const writePredictions = (result: PredictionsResult, plan: PredictionsPlan): string => {
  const { starts, atRest, afterLoad } = result;
  const started = [...starts.keys()];
  return `
- One run, one machine; upstream, target and load generator share its cores. Everything is on loopback.
- Presage: key check, rate limit (too high to be reached), metrics and a log line for each request, SQLite. nginx: one
  worker, HTTP/1.1 with kept-alive connections on both sides, access log on. Portkey: headless, in production mode.
- The bare Bun proxy only parses and serialises requests and responses, with \`Bun.serve\` and \`fetch\`:
  it shows the cost of the runtime.
- The request is one prediction of ${(predictBody.length / 1000).toFixed(1)} KB: \`/v1/predict\` for Presage, the same prompt already composed to
  \`/v1/chat/completions\` for the others. Before the load, one request to each target proves that the same prompt
  reaches the upstream.
- The upstream responds with a constant completion after the delay. It counts requests: a figure is invalid if there were fewer
  than the client got responses, or more than the client sent.
- Load by wrk with one thread, ${plan.rounds} rounds; targets take turns, in a different order in each round. Every
  figure is the median of the rounds, with the range in parentheses; ratios and differences are taken within a round.
- wrk corrects its percentiles for waiting time hidden by stalled connections ("coordinated omission").
- Processor time is user + system time of the process and its children, as counted by the kernel, divided by the number of
  requests that reached the upstream; – if less than 0.2 s was used.
- Memory is in MB (10⁶ bytes), RSS of the process and its children; peaks are the kernel's high-water marks.

### No delay at the upstream
${loadTable(result, plan, 0)}

### 50 ms at the upstream
${loadTable(result, plan, 50)}

### Presage compared with the others
${ratioTable(result, plan)}

### Memory, MB
${tableOf(started, [
  ["target", (name) => targetTitles[name]],
  ["at rest", (name) => showMegabytes(atRest.get(name)?.rssBytes)],
  ["at rest, PSS", (name) => showMegabytes(atRest.get(name)?.pssBytes)],
  ["peak under load", (name) => showMegabytes(afterLoad.get(name)?.peakRssBytes)],
  ["at rest after the load", (name) => showMegabytes(afterLoad.get(name)?.rssBytes)],
])}

### ${showCount(plan.inFlight.rollouts)} predictions in flight, the upstream takes 1 s
This many rollouts start at the same moment, each on its own socket, and send ${plan.inFlight.steps} steps one after the other,
to a new process. The first step includes connecting.

${flightTable(result)}

### From start to ready
Median of ${plan.startRuns} runs, from the spawn until \`GET /ready\` answers 200 (for the others, until the first response).

${tableOf(started, [
  ["target", (name) => targetTitles[name]],
  ["first start, ms", (name) => starts.get(name)?.firstMs.toFixed(0) ?? none],
  ["started again, ms", (name) => starts.get(name)?.againMs.toFixed(0) ?? none],
])}
`;
};
