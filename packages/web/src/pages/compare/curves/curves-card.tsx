import { formatPoints } from "@presage/contract/describe-runs";
import type { RunReport } from "@presage/sdk";
import { formatScore } from "../../../format/numbers.ts";
import type { ComparedEvaluator } from "../../../parts/evaluators.tsx";
import { Card } from "../../../ui/card.tsx";
import { BandCurve } from "../../../ui/charts/band-curve.tsx";
import { ChartSkeleton } from "../../../ui/skeleton.tsx";
import { Segmented } from "../../../ui/form/segmented.tsx";
import type { MarkedRun } from "../run-marks.ts";
import type { CompareState } from "../use-compare.ts";
import { differenceCurves, domainOf, drawnTrajectories, scoreCurves } from "./curves.ts";

interface CurvesCardProps {
  evaluator: ComparedEvaluator;
  marked: readonly MarkedRun[];
  /** In the same order; undefined until loaded. */
  reports: readonly (RunReport | undefined)[];
  state: CompareState;
}

/** All runs by the place in the trajectory: how their scores drift, and their differences. */
export function CurvesCard({ evaluator, marked, reports, state: { search, change } }: CurvesCardProps) {
  const shows = search.curves ?? "scores";
  const scores = scoreCurves(marked, reports, evaluator);
  const differences = differenceCurves(marked, evaluator);
  return (
    <Card
      title="By step"
      hint={`The step is the place in the trajectory, from 0. Those that fewer than ${drawnTrajectories} trajectories reach are not drawn.`}
      actions={
        <Segmented
          label="By step"
          value={shows}
          options={[
            { value: "scores", label: "Mean scores" },
            { value: "differences", label: "Differences" },
          ]}
          onChange={(next) =>
            change({ curves: next === "differences" ? "differences" : undefined }, { replace: true })
          }
        />
      }
    >
      {shows === "differences" ? (
        <BandCurve
          label="Differences by step"
          xLabel="Step"
          yLabel="Difference"
          series={differences}
          domain={domainOf(differences)}
          format={formatPoints}
          note="Percentage points from the reference, paired by sample, with intervals at 95 %. Exploratory: not corrected for the number of steps."
        />
      ) : reports.includes(undefined) ? (
        // As high as the chart.
        <div className="flex h-[21.5rem] flex-col">
          <ChartSkeleton />
        </div>
      ) : (
        <BandCurve
          label="Mean scores by step"
          xLabel="Step"
          yLabel="Mean score"
          series={scores}
          format={formatScore}
          note="Of all samples of each run that have a verdict, with intervals at 95 %, clustered by trajectory."
        />
      )}
    </Card>
  );
}
