import type { RunSurvival } from "@presage/sdk";
import { formatCount, formatShare } from "../../../format/format-number.ts";
import { Card } from "../../../ui/card.tsx";
import type { CurvePoint } from "../../../ui/charts/plot/curve.ts";
import { StepCurve } from "../../../ui/charts/step-curve.tsx";

/** How many steps free-running trajectories go until their first divergence. */
export function SurvivalCard({ survival }: { survival: RunSurvival }) {
  const { trajectories, endings, median, failures_as_divergence: bound } = survival;
  const failed = endings.prediction_failed + endings.evaluator_failed;
  const series = [{ key: "survival", label: "Not diverged", points: pointsOf(survival) }];
  if (failed > 0) {
    series.push({ key: "bound", label: "If failures are divergence", points: pointsOf(bound) });
  }
  return (
    <Card
      title="Survival"
      hint={`${formatCount(endings.diverged)} of ${formatCount(trajectories)} trajectories${survival.seed === null ? "" : ", each repeat counted,"} diverge; ${formatCount(endings.recording_ended)} reach the end of the recording${failed === 0 ? "" : `, ${formatCount(failed)} end with a failure`}.`}
    >
      <StepCurve
        label="Share of trajectories that have not diverged"
        xLabel="Steps predicted"
        yLabel="Not diverged"
        series={series}
        format={formatShare}
        formatTick={(value) => `${Math.round(value * 100)} %`}
        note={`${median === null ? "At most half have diverged as far as is known." : `Half have diverged after ${formatCount(median + 1)} steps.`} Kaplan–Meier with 95 % intervals by ${survival.seed === null ? "log-log Greenwood" : "2,000 bootstraps over trajectories"}; ends of recordings and failures are censored.`}
      />
    </Card>
  );
}

/** Before the first step nothing has diverged. After step k, k + 1 steps are predicted. */
function pointsOf({ steps }: Pick<RunSurvival, "steps">): CurvePoint[] {
  return [
    { x: 0, value: 1 },
    ...steps.map(({ step, survival, interval, at_risk }) => ({
      x: step + 1,
      value: survival,
      lower: interval?.lower,
      upper: interval?.upper,
      basis: `${formatCount(at_risk)} at risk`,
    })),
  ];
}
