import { compareRounds, type Place } from "../report/figures.ts";
import type { Goal } from "../report/goal.ts";
import type { TargetName } from "../targets/target.ts";
import type { InFlightResult } from "./measure-in-flight.ts";
import type { PredictionsPlan } from "./plan-predictions.ts";
import type { PredictionsResult } from "./run-predictions.ts";

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

export const judgePredictions = (
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
