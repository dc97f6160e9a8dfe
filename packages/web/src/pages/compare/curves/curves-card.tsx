import { fewestTrajectories } from "@presage/contract/defaults";
import { describeSurvival, describeSurvivalMethod, formatPoints } from "@presage/contract/describe-runs";
import type { RunReport } from "@presage/sdk";
import { formatScore, formatShare } from "../../../format/numbers.ts";
import { type ComparedEvaluator, measureOf } from "../../../parts/evaluator-names.ts";
import { Card } from "../../../ui/card.tsx";
import { CurveChart } from "../../../ui/charts/curve-plot.tsx";
import { Segmented } from "../../../ui/form/choices.tsx";
import { ChartSkeleton } from "../../../ui/skeleton.tsx";
import type { CompareState } from "../compare-search.ts";
import type { MarkedRun } from "../run-mark.tsx";
import { differenceCurves, domainOf, scoreCurves, survivalCurves } from "./curves.ts";

interface CurvesCardProps {
  evaluator: ComparedEvaluator;
  marked: readonly MarkedRun[];
  /** In the same order as `marked`; undefined until loaded. */
  reports: readonly (RunReport | undefined)[];
  state: CompareState;
}

/** All runs by step of the trajectory: how their scores drift, and their differences. */
export function CurvesCard({ evaluator, marked, reports, state: { search, change } }: CurvesCardProps) {
  const shows = search.curves ?? "scores";
  const ofRates = measureOf(evaluator) === "pass_rate";
  const scores = scoreCurves(marked, reports, evaluator);
  const differences = differenceCurves(marked, evaluator);
  return (
    <Card
      title="By step"
      hint={`The step is the place in the trajectory, from 0. Those that fewer than ${fewestTrajectories} trajectories reach are not drawn.`}
      actions={
        <Segmented
          label="By step"
          value={shows}
          options={[
            { value: "scores", label: ofRates ? "Pass rates" : "Mean scores" },
            { value: "differences", label: "Differences" },
          ]}
          onChange={(next) =>
            change({ curves: next === "differences" ? "differences" : undefined }, { replace: true })
          }
        />
      }
    >
      {shows === "differences" ? (
        <CurveChart
          shape="line"
          label="Differences by step"
          xLabel="Step"
          yLabel="Difference"
          series={differences}
          domain={domainOf(differences)}
          format={formatPoints}
          note="Percentage points from the reference, paired by sample, with intervals at 95&nbsp;%. Exploratory: not corrected for the number of steps."
        />
      ) : reports.includes(undefined) ? (
        // Has the height of the chart.
        <div className="flex h-[21.5rem] flex-col">
          <ChartSkeleton />
        </div>
      ) : (
        <CurveChart
          shape="line"
          label={ofRates ? "Pass rates by step" : "Mean scores by step"}
          xLabel="Step"
          yLabel={ofRates ? "Pass rate" : "Mean score"}
          series={scores}
          format={ofRates ? formatShare : formatScore}
          note="Of all samples of each run that have a verdict, with intervals at 95&nbsp;%, clustered by trajectory."
        />
      )}
    </Card>
  );
}

interface SurvivalCardProps {
  evaluator: ComparedEvaluator;
  marked: readonly MarkedRun[];
  reports: readonly (RunReport | undefined)[];
}

/** How long free-running trajectories stay as recorded. Absent if no run is free-running. */
export function SurvivalCard({ evaluator, marked, reports }: SurvivalCardProps) {
  const { series, curves } = survivalCurves(marked, reports, evaluator);
  if (series.length === 0) return null;
  return (
    <Card
      title="Until the first divergence"
      hint="The share of free-running trajectories that have not diverged after a step."
    >
      <CurveChart
        shape="step"
        label="Trajectories that have not diverged"
        xLabel="Step"
        yLabel="Not diverged"
        series={series}
        format={formatShare}
        note={[...new Set(curves.map(({ survival }) => describeSurvivalMethod(survival)))].join(" ")}
      />
      <ul className="flex flex-col gap-0.5 px-4 pb-3 text-sm text-ink-2">
        {curves.map(({ name, run, survival }) => (
          <li key={run.id}>
            <span className="font-medium text-ink">{name}</span>: {describeSurvival(survival, run)}
          </li>
        ))}
      </ul>
    </Card>
  );
}
