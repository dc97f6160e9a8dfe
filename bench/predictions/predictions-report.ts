import { findProblems, type Goal, median, none, showFigure, showMegabytes, table } from "../lib/figures.ts";
import { installPortkey } from "../lib/machine.ts";
import type { Part } from "../lib/part.ts";
import { predictBody } from "../lib/payload.ts";
import { type StartedName, type TargetName, targetTitles } from "../lib/targets.ts";
import {
  fullPredictionsPlan,
  type InFlightResult,
  type PredictionsPlan,
  type PredictionsResult,
  quickPredictionsPlan,
  runPredictions,
  type Sample,
} from "./predictions.ts";

export type Measure = "requestsPerSecond" | "p50Us" | "p99Us" | "cpuUsPerRequest";

export interface Figure {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export interface Place {
  readonly connections: number;
  readonly delayMs: number;
}

/** The figures of one target in one row of the tables, by round. Failed rounds do not count. */
const readRounds = (
  samples: readonly Sample[],
  target: TargetName,
  { connections, delayMs }: Place,
  measure: Measure,
): Map<number, number> =>
  new Map(
    samples
      .filter((sample) => sample.target === target && sample.problem === undefined)
      .filter(({ scenario }) => scenario.connections === connections && scenario.delayMs === delayMs)
      .flatMap((sample) => {
        const value = sample[measure];
        return value === undefined ? [] : [[sample.round, value] as const];
      }),
  );

export const summarise = (values: readonly number[]): Figure | undefined =>
  values.length === 0
    ? undefined
    : { median: median(values), least: Math.min(...values), most: Math.max(...values) };

const readFigure = (
  samples: readonly Sample[],
  target: TargetName,
  place: Place,
  measure: Measure,
): Figure | undefined => summarise([...readRounds(samples, target, place, measure).values()]);

/** Compares within each round, then takes the median, because a slow machine slows both sides. */
const compareRounds = (
  samples: readonly Sample[],
  pair: { readonly target: TargetName; readonly with: TargetName },
  place: Place,
  measure: Measure,
  compare: (left: number, right: number) => number,
): Figure | undefined => {
  const right = readRounds(samples, pair.with, place, measure);
  const left = readRounds(samples, pair.target, place, measure);
  return summarise(
    [...left].flatMap(([round, value]) => {
      const other = right.get(round);
      return other === undefined ? [] : [compare(value, other)];
    }),
  );
};

const busy: Place = { connections: 32, delayMs: 0 };
const alone: Place = { connections: 1, delayMs: 0 };

const judge = (
  text: string,
  value: number | undefined,
  limit: number,
  show: (value: number) => string,
): Goal =>
  value === undefined || Number.isNaN(value)
    ? { text, measured: "not measured", met: undefined }
    : { text, measured: show(value), met: value <= limit };

/** If they were never all at the upstream at once, the run was easier and proves nothing. */
const judgeInFlight = (flight: InFlightResult | undefined, rollouts: number): Goal => {
  const text = `${rollouts.toLocaleString("en-US")} predictions in flight at once all succeed, within 260 MB`;
  if (flight === undefined) return { text, measured: "not measured", met: undefined };
  const { sent, succeeded, peakAtUpstream, peakRssBytes } = flight;
  const megabytes = peakRssBytes / 1e6;
  return {
    text,
    measured: `${succeeded} of ${sent}, ${peakAtUpstream} at once, ${megabytes.toFixed(0)} MB`,
    met: succeeded === sent && peakAtUpstream >= rollouts && megabytes <= 260,
  };
};

const judgePredictions = (
  { samples, starts, atRest, inFlight }: PredictionsResult,
  plan: PredictionsPlan,
): Goal[] => {
  const cpuAgainst = (peer: TargetName): number | undefined =>
    compareRounds(
      samples,
      { target: "presage", with: peer },
      busy,
      "cpuUsPerRequest",
      (own, other) => own / other,
    )?.median;
  const toPortkey = cpuAgainst("portkey");
  const addedUs = compareRounds(
    samples,
    { target: "presage", with: "direct" },
    alone,
    "p50Us",
    (own, direct) => own - direct,
  )?.median;
  const start = starts.get("presage");
  const rest = atRest.get("presage");
  return [
    judge(
      "At 32 connections with no delay, at most 4 times nginx's processor time a request",
      cpuAgainst("nginx"),
      4,
      (ratio) => `${ratio.toFixed(2)} times`,
    ),
    judge(
      "At 32 connections with no delay, at most 1/15 of Portkey's processor time a request",
      toPortkey,
      1 / 15,
      (ratio) => `1/${(1 / ratio).toFixed(1)}`,
    ),
    judge(
      "At 1 connection, at most 0.3 ms more than the direct call at the median",
      addedUs === undefined ? undefined : addedUs / 1000,
      0.3,
      (ms) => `${ms.toFixed(3)} ms`,
    ),
    judgeInFlight(inFlight.get("presage"), plan.inFlight.rollouts),
    judge(
      "Ready within 0.5 s of the start, with and without a database",
      start === undefined ? undefined : Math.max(start.firstMs, start.againMs),
      500,
      (ms) => `${ms.toFixed(0)} ms`,
    ),
    judge(
      "Under 90 MB at rest",
      rest === undefined ? undefined : rest.rssBytes / 1e6,
      90,
      (megabytes) => `${megabytes.toFixed(0)} MB`,
    ),
  ];
};

const writeLoadTable = (
  { samples, targets }: PredictionsResult,
  plan: PredictionsPlan,
  delayMs: number,
): string =>
  table(
    ["connections", "target", "requests/s", "p50, ms", "p99, ms", "processor time a request, µs"],
    plan.scenarios
      .filter((scenario) => scenario.delayMs === delayMs)
      .flatMap((scenario) =>
        targets.map((target) => [
          String(scenario.connections),
          targetTitles[target],
          showFigure(readFigure(samples, target, scenario, "requestsPerSecond")),
          showFigure(readFigure(samples, target, scenario, "p50Us"), 1 / 1000),
          showFigure(readFigure(samples, target, scenario, "p99Us"), 1 / 1000),
          showFigure(readFigure(samples, target, scenario, "cpuUsPerRequest")),
        ]),
      ),
  );

const writeRatioTable = ({ samples }: PredictionsResult, plan: PredictionsPlan): string => {
  const divide = (own: number, other: number): number => own / other;
  const subtract = (own: number, other: number): number => own - other;
  return table(
    [
      "delay, ms",
      "connections",
      "CPU time / nginx's",
      "CPU time / the bare Bun proxy's",
      "Portkey's CPU time / Presage's",
      "p50 above direct, ms",
      "p50 above nginx, ms",
    ],
    plan.scenarios.map((scenario) => [
      String(scenario.delayMs),
      String(scenario.connections),
      showFigure(
        compareRounds(samples, { target: "presage", with: "nginx" }, scenario, "cpuUsPerRequest", divide),
      ),
      showFigure(
        compareRounds(samples, { target: "presage", with: "bun" }, scenario, "cpuUsPerRequest", divide),
      ),
      showFigure(
        compareRounds(samples, { target: "portkey", with: "presage" }, scenario, "cpuUsPerRequest", divide),
      ),
      showFigure(
        compareRounds(samples, { target: "presage", with: "direct" }, scenario, "p50Us", subtract),
        1 / 1000,
      ),
      showFigure(
        compareRounds(samples, { target: "presage", with: "nginx" }, scenario, "p50Us", subtract),
        1 / 1000,
      ),
    ]),
  );
};

const startedOf = ({ starts }: PredictionsResult): StartedName[] => [...starts.keys()];

const writeMemoryTable = (result: PredictionsResult): string =>
  table(
    ["target", "at rest", "at rest, PSS", "peak under load", "at rest after the load"],
    startedOf(result).map((name) => [
      targetTitles[name],
      showMegabytes(result.atRest.get(name)?.rssBytes),
      showMegabytes(result.atRest.get(name)?.pssBytes),
      showMegabytes(result.afterLoad.get(name)?.peakRssBytes),
      showMegabytes(result.afterLoad.get(name)?.rssBytes),
    ]),
  );

const writeInFlightTable = (result: PredictionsResult): string =>
  table(
    [
      "target",
      "succeeded",
      "concurrent at the upstream",
      "whole run, s",
      "slowest prediction, s",
      "peak memory, MB",
    ],
    startedOf(result).map((name) => {
      const flight = result.inFlight.get(name);
      if (flight === undefined) return [targetTitles[name], none, none, none, none, none];
      return [
        targetTitles[name],
        `${flight.succeeded} of ${flight.sent}`,
        String(flight.peakAtUpstream),
        (flight.durationMs / 1000).toFixed(1),
        (flight.slowestMs / 1000).toFixed(1),
        showMegabytes(flight.peakRssBytes),
      ];
    }),
  );

const writeStartTable = (result: PredictionsResult): string =>
  table(
    ["target", "first start, ms", "started again, ms"],
    startedOf(result).map((name) => [
      targetTitles[name],
      result.starts.get(name)?.firstMs.toFixed(0) ?? none,
      result.starts.get(name)?.againMs.toFixed(0) ?? none,
    ]),
  );

const writePredictions = (result: PredictionsResult, plan: PredictionsPlan): string => `
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
${writeLoadTable(result, plan, 0)}

### 50 ms at the upstream
${writeLoadTable(result, plan, 50)}

### Presage compared with the others
${writeRatioTable(result, plan)}

### Memory, MB
${writeMemoryTable(result)}

### ${plan.inFlight.rollouts.toLocaleString("en-US")} predictions in flight, the upstream takes 1 s
This many rollouts start at the same moment, each on its own socket, and send ${plan.inFlight.steps} steps one after the other,
to a new process. The first step includes connecting.

${writeInFlightTable(result)}

### From start to ready
Median of ${plan.startRuns} runs, from the spawn until \`GET /ready\` answers 200 (for the others, until the first response).

${writeStartTable(result)}
`;

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
