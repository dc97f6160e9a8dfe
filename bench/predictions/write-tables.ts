import { compareRounds, readFigure } from "../report/figures.ts";
import { none, showFigure, showMegabytes, table } from "../report/markdown.ts";
import type { StartedName } from "../targets/start-target.ts";
import { targetTitles } from "../targets/target.ts";
import type { PredictionsPlan } from "./plan-predictions.ts";
import type { PredictionsResult } from "./run-predictions.ts";

export const writeLoadTable = (
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

export const writeRatioTable = ({ samples }: PredictionsResult, plan: PredictionsPlan): string => {
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

export const writeMemoryTable = (result: PredictionsResult): string =>
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

export const writeInFlightTable = (result: PredictionsResult): string =>
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

export const writeStartTable = (result: PredictionsResult): string =>
  table(
    ["target", "first start, ms", "started again, ms"],
    startedOf(result).map((name) => [
      targetTitles[name],
      result.starts.get(name)?.firstMs.toFixed(0) ?? none,
      result.starts.get(name)?.againMs.toFixed(0) ?? none,
    ]),
  );
