import type { RunReport } from "@presage/sdk";
import { formatCount, formatShare } from "../../../format/numbers.ts";
import type { ComparedEvaluator } from "../../../parts/evaluators.tsx";
import { Card } from "../../../ui/card.tsx";
import { StepCurve } from "../../../ui/charts/step-curve.tsx";
import type { MarkedRun } from "../run-marks.ts";
import { survivalCurves } from "./curves.ts";

interface SurvivalCardProps {
  evaluator: ComparedEvaluator;
  marked: readonly MarkedRun[];
  reports: readonly (RunReport | undefined)[];
}

/** How long free-running trajectories stay as recorded. Absent where no run is free-running. */
export function SurvivalCard({ evaluator, marked, reports }: SurvivalCardProps) {
  const { series, medians } = survivalCurves(marked, reports, evaluator);
  if (series.length === 0) return null;
  return (
    <Card
      title="Until the first divergence"
      hint="The share of free-running trajectories that have not diverged after a step."
    >
      <StepCurve
        label="Trajectories that have not diverged"
        xLabel="Step"
        yLabel="Not diverged"
        series={series}
        format={formatShare}
        note="Kaplan–Meier, with log-log intervals at 95 %. The end of a recording and failures are censored."
      />
      <ul className="flex flex-col gap-0.5 px-4 pb-3 text-sm text-ink-2">
        {medians.map(({ name, survival: { median, trajectories, endings } }) => (
          <li key={name}>
            <span className="font-medium text-ink">{name}</span>: {describeMedian(median)};{" "}
            {formatCount(endings.diverged)} of {formatCount(trajectories)} trajectories diverge.
          </li>
        ))}
      </ul>
    </Card>
  );
}

function describeMedian(median: number | null): string {
  if (median === null) return "more than half have not diverged at the end";
  return `half have diverged after step ${median}`;
}
