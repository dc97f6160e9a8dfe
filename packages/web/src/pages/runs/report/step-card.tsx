import type { RunReport, RunStratum } from "@presage/sdk";
import { formatShare } from "../../../format/numbers.ts";
import { evaluatorKey } from "../../../parts/evaluators.tsx";
import { Card } from "../../../ui/card.tsx";
import { BandCurve } from "../../../ui/charts/band-curve.tsx";
import type { CurvePoint, CurveSeries } from "../../../ui/charts/plot/curve.ts";
import { figureOf, type Measure, measureExplanations, measureLabels } from "./describe-figures.ts";

interface StepCardProps {
  report: RunReport;
  chosen: RunReport["evaluators"][number];
  measure: Measure;
}

/** Accuracy by step, beside that of no change and, of a free-running run, beside the teacher-forced one. */
export function StepCard({ report, chosen, measure }: StepCardProps) {
  const { step } = chosen.strata;
  const forced = report.teacher_forced?.evaluators.find((one) => evaluatorKey(one) === evaluatorKey(chosen));
  const series: CurveSeries[] = [
    {
      key: "run",
      label: report.run.mode === "free-running" ? "Free-running" : "This run",
      points: pointsOf(step, measure),
    },
  ];
  if (forced !== undefined) {
    series.push({
      key: "forced",
      label: `Teacher-forced: ${report.teacher_forced?.name}`,
      points: pointsOf(forced.step, measure),
    });
  }
  if (step.some(({ no_change }) => no_change !== null)) {
    series.push({
      key: "no-change",
      label: "No change",
      color: "var(--ink-3)",
      isDashed: true,
      points: step.map(({ key, no_change }) => ({ x: Number(key), value: no_change?.[measure] ?? null })),
    });
  }
  const leftOut = chosen.strata_left_out.step;
  return (
    <Card
      title={`${measureLabels[measure]} by step`}
      hint={
        leftOut === 0
          ? "By place in the trajectory, from 0."
          : `The first 1,000 steps; ${leftOut} later ones are left out.`
      }
    >
      <BandCurve
        label={`${measureLabels[measure]} by step`}
        xLabel="Step"
        yLabel={measureLabels[measure]}
        series={series}
        format={formatShare}
        formatTick={(value) => `${Math.round(value * 100)} %`}
        note={`${measureExplanations[measure]} Pale where a single trajectory is left, which has no interval.`}
      />
    </Card>
  );
}

function pointsOf(strata: readonly RunStratum[], measure: Measure): CurvePoint[] {
  return strata.map((stratum) => {
    const { value, lower, upper, basis } = figureOf(stratum, measure);
    return { x: Number(stratum.key), value, lower, upper, basis };
  });
}
