import type { RunStratum } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { formatShare } from "../../../format/numbers.ts";
import { Card } from "../../../ui/card.tsx";
import { IntervalBars } from "../../../ui/charts/interval-bars.tsx";
import { InlineText } from "../../../ui/untrusted-text/inline-text.tsx";
import { figureOf, type Measure, measureExplanations, measureLabels } from "./describe-figures.ts";

interface StrataCardProps {
  title: string;
  hint: string;
  rowLabel: string;
  strata: readonly RunStratum[];
  measure: Measure;
  /** In place of the report's order. */
  isLowestFirst?: boolean;
  /** The run whose trajectories the rows are, to lead there. */
  runId?: string;
}

/** Figures of groups of samples, on one axis with the baseline. */
export function StrataCard({
  title,
  hint,
  rowLabel,
  strata,
  measure,
  isLowestFirst = false,
  runId,
}: StrataCardProps) {
  const rows = strata.map((stratum) => {
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
            <InlineText text={label} />
          </Link>
        ),
      ...figureOf(stratum, measure),
    };
  });
  if (isLowestFirst) rows.sort((one, other) => (one.value ?? 2) - (other.value ?? 2));
  return (
    <Card title={title} hint={hint}>
      <IntervalBars
        label={title}
        rowLabel={rowLabel}
        valueLabel={measureLabels[measure]}
        explanation={measureExplanations[measure]}
        rows={rows}
        domain={[0, 1]}
        format={formatShare}
        formatTick={(value) => `${Math.round(value * 100)}`}
        referenceLabel="No change"
        most={8}
      />
    </Card>
  );
}
