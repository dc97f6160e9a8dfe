import { fewestTrajectories } from "@presage/contract/defaults";
import type { RunReport, RunStratum } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { counted, formatCount, formatPercent, formatScore } from "../../../format/numbers.ts";
import { evaluatorKey } from "../../../parts/evaluator-names.ts";
import { Card } from "../../../ui/card.tsx";
import type { CurvePoint, CurveSeries } from "../../../ui/charts/curve.ts";
import { CurveChart } from "../../../ui/charts/curve-plot.tsx";
import { IntervalTable } from "../../../ui/charts/interval-table.tsx";
import { InlineText, SampleName } from "../../../ui/untrusted-text/inline-text.tsx";
import {
  figureOf,
  type Measure,
  measureExplanations,
  measureFormats,
  measureLabels,
} from "./describe-figures.ts";

interface StepCardProps {
  report: RunReport;
  chosen: RunReport["evaluators"][number];
  measure: Measure;
}

/** Accuracy by step, compared with no change and, for a free-running run, with the teacher-forced run. */
export function StepCard({ report, chosen, measure }: StepCardProps) {
  const step = chosen.strata.step.filter(isDrawn);
  const tooFew = chosen.strata.step.length - step.length;
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
      points: pointsOf(forced.step.filter(isDrawn), measure),
    });
  }
  if (step.some(({ no_change }) => no_change !== null)) {
    series.push({
      key: "no-change",
      label: "No change",
      color: "var(--color-ink-3)",
      isDashed: true,
      points: step.map(({ key, no_change }) => ({ x: Number(key), value: no_change?.[measure] ?? null })),
    });
  }
  const leftOut = chosen.strata_left_out.step;
  if (step.length === 0) return null;
  return (
    <Card
      title={`${measureLabels[measure]} by step`}
      hint={[
        leftOut === 0
          ? "By place in the trajectory, from 0."
          : `The first 1,000 steps; ${formatCount(leftOut)} later ones are left out.`,
        tooFew === 0
          ? ""
          : `${counted(tooFew, "step")} with fewer than ${fewestTrajectories} trajectories ${tooFew === 1 ? "is" : "are"} not drawn.`,
      ].join(" ")}
    >
      <CurveChart
        shape="line"
        label={`${measureLabels[measure]} by step`}
        xLabel="Step"
        yLabel={measureLabels[measure]}
        series={series}
        format={measureFormats[measure].format}
        formatTick={measure === "mean" ? formatScore : formatPercent}
        note={measureExplanations[measure]}
      />
    </Card>
  );
}

function isDrawn({ trajectories }: RunStratum): boolean {
  return trajectories >= fewestTrajectories;
}

function pointsOf(strata: readonly RunStratum[], measure: Measure): CurvePoint[] {
  return strata.map((stratum) => {
    const { value, lower, upper, basis } = figureOf(stratum, measure);
    return { x: Number(stratum.key), value, lower, upper, basis };
  });
}

interface StrataCardProps {
  title: string;
  hint?: string | undefined;
  rowLabel: string;
  strata: readonly RunStratum[];
  measure: Measure;
  /** Puts the groups with the greatest loss first, since rare groups have the lowest rates by chance. */
  isMostLostFirst?: boolean;
  /** The run whose trajectories the rows are, for links. */
  runId?: string;
}

/** Figures of groups of samples, on one axis with the baseline. */
export function StrataCard({
  title,
  hint,
  rowLabel,
  strata,
  measure,
  isMostLostFirst = false,
  runId,
}: StrataCardProps) {
  const rows = strata
    .filter(({ count }) => count > 0)
    .map((stratum) => {
      const label = String(stratum.key);
      return {
        key: label,
        label,
        shown:
          runId === undefined ? (
            <InlineText text={label} />
          ) : (
            <Link
              to="/runs/$runId/trajectories/$trajectoryId"
              params={{ runId, trajectoryId: label }}
              className="text-accent-ink underline-offset-2 hover:underline"
            >
              <SampleName id={label} />
            </Link>
          ),
        ...figureOf(stratum, measure),
      };
    });
  if (rows.length === 0) return null;
  const lost = ({ value, count = 0 }: (typeof rows)[number]) => (value === null ? -1 : (1 - value) * count);
  if (isMostLostFirst) rows.sort((one, other) => lost(other) - lost(one));
  return (
    <Card title={title} hint={hint}>
      <IntervalTable
        mark="bar"
        label={title}
        rowLabel={rowLabel}
        valueLabel={measureLabels[measure]}
        explanation={measureExplanations[measure]}
        rows={rows}
        domain={[0, 1]}
        {...measureFormats[measure]}
        referenceLabel="No change"
        most={8}
      />
    </Card>
  );
}
