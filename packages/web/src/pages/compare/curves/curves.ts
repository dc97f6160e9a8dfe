import { fewestTrajectories } from "@presage/contract/defaults";
import type { RunReport, RunSurvival } from "@presage/sdk";
import { countedIn, formatCount } from "../../../format/numbers.ts";
import { type ComparedEvaluator, evaluatorKey, measureOf } from "../../../parts/evaluator-names.ts";
import type { CurveSeries } from "../../../ui/charts/curve.ts";
import { type MarkedRun, nameRun } from "../run-mark.tsx";

type Reports = readonly (RunReport | undefined)[];

/** Each run's mean score by step, or its pass rate if pass rates are compared. */
export function scoreCurves(
  marked: readonly MarkedRun[],
  reports: Reports,
  evaluator: ComparedEvaluator,
): CurveSeries[] {
  return marked.flatMap((one, index) => {
    const found = reports[index]?.evaluators.find((other) => evaluatorKey(other) === evaluatorKey(evaluator));
    if (found === undefined) return [];
    const ofRates = measureOf(evaluator) === "pass_rate";
    const points = found.strata.step.filter(isDrawn).map(({ key, count, trajectories, ...figures }) => {
      const interval = ofRates ? figures.pass_interval : figures.interval;
      return {
        x: Number(key),
        value: ofRates ? figures.pass_rate : figures.mean,
        lower: interval?.lower,
        upper: interval?.upper,
        basis: countedIn(count, trajectories),
      };
    });
    return [{ ...seriesOf(one, marked), points }];
  });
}

/** Each compared run's paired difference by step. */
export function differenceCurves(marked: readonly MarkedRun[], evaluator: ComparedEvaluator): CurveSeries[] {
  return evaluator.candidates.flatMap(({ run_id, strata }) => {
    const one = marked.find(({ run }) => run.id === run_id);
    if (one === undefined) return [];
    const points = strata.step.filter(isDrawn).map(({ key, difference, interval, count, trajectories }) => ({
      x: Number(key),
      value: difference,
      lower: interval === null ? null : Math.max(-1, interval.lower),
      upper: interval === null ? null : Math.min(1, interval.upper),
      basis: countedIn(count, trajectories),
    }));
    return [{ ...seriesOf(one, marked), points }];
  });
}

/** The share of trajectories that have not diverged, for free-running runs. */
export function survivalCurves(
  marked: readonly MarkedRun[],
  reports: Reports,
  evaluator: ComparedEvaluator,
): { series: CurveSeries[]; curves: { name: string; run: MarkedRun["run"]; survival: RunSurvival }[] } {
  const found = marked.flatMap((one, index) => {
    const survival = reports[index]?.survival?.find(
      (other) => evaluatorKey(other) === evaluatorKey(evaluator),
    );
    return survival === undefined ? [] : [{ one, survival }];
  });
  const last = Math.max(0, ...found.flatMap(({ survival }) => survival.steps.map(({ step }) => step)));
  return {
    series: found.map(({ one, survival: { steps, trajectories } }) => ({
      ...seriesOf(one, marked),
      points: [
        // Before the first divergence, all trajectories are as recorded.
        ...((steps[0]?.step ?? 0) > 0
          ? [{ x: 0, value: 1, basis: `${formatCount(trajectories)} at risk` }]
          : []),
        ...steps.map(({ step, survival, interval, at_risk }) => ({
          x: step,
          value: survival,
          lower: interval?.lower,
          upper: interval?.upper,
          basis: `${formatCount(at_risk)} at risk`,
        })),
        // After all trajectories have diverged, the curve stays at 0.
        ...(steps.at(-1)?.survival === 0 && (steps.at(-1)?.step ?? last) < last
          ? [{ x: last, value: 0, basis: "0 at risk" }]
          : []),
      ],
    })),
    curves: found.map(({ one, survival }) => ({ name: nameRun(one, marked), run: one.run, survival })),
  };
}

/** A range with the values and 0, extended to the next tenth. */
export function domainOf(series: readonly CurveSeries[]): readonly [number, number] {
  const values = series.flatMap(({ points }) =>
    points.flatMap(({ value, lower, upper }) => [value, lower, upper].filter((one) => one != null)),
  );
  const lower = Math.floor(Math.min(0, ...values) * 10) / 10;
  const upper = Math.ceil(Math.max(0, ...values) * 10) / 10;
  return lower === upper ? [-0.1, 0.1] : [lower, upper];
}

function seriesOf(one: MarkedRun, marked: readonly MarkedRun[]) {
  return {
    key: one.run.id,
    label: `${one.letter}: ${nameRun(one, marked)}`,
    color: one.color,
    isDashed: one === marked[0],
  };
}

function isDrawn({ trajectories }: { trajectories: number }): boolean {
  return trajectories >= fewestTrajectories;
}
