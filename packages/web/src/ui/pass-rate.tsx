import type { EvaluationSummaryGroup } from "@presage/sdk";
import type { ReactNode } from "react";
import { describeInterval, describeVerdicts, explainInterval, formatShare } from "../format/numbers.ts";
import { IntervalBar } from "./charts/sparkline.tsx";
import { Explained } from "./tooltip.tsx";

/** The pass rate of one evaluator and profile, with its interval and its numbers of verdicts and clusters. */
export function PassRate({ figures }: { figures: EvaluationSummaryGroup }) {
  const { pass_rate, pass_rate_interval: interval } = figures;
  if (pass_rate === null) return <span className="text-ink-3">No verdicts</span>;
  return (
    <Explained text={explainInterval(figures)} className="inline-flex flex-col">
      <RateCell
        rate={pass_rate}
        interval={interval}
        note={<span className="whitespace-nowrap">{describeVerdicts(figures)}</span>}
      />
    </Explained>
  );
}

interface RateCellProps {
  rate: number | null;
  interval: { lower: number; upper: number } | null;
  /** The rate to beat, shown as a mark. */
  baseline?: number | undefined;
  /** Details, for example the count or the evaluator. */
  note?: ReactNode;
}

/** A rate as a number with its interval, and as a point in the interval. */
export function RateCell({ rate, interval, baseline, note }: RateCellProps) {
  if (rate === null) return <span className="text-ink-3">–</span>;
  return (
    <span className="flex min-w-0 flex-col tabular-nums">
      <span className="flex flex-wrap items-center gap-x-2">
        <span className="text-ink">{formatShare(rate)}</span>
        <span className="text-xs whitespace-nowrap text-ink-2">
          {interval === null ? "no interval" : describeInterval(interval)}
        </span>
        {interval !== null && (
          <span aria-hidden className="ml-1 max-w-44 min-w-16 flex-1">
            <IntervalBar value={rate} lower={interval.lower} upper={interval.upper} baseline={baseline} />
          </span>
        )}
      </span>
      <span className="flex flex-wrap gap-x-2 text-xs whitespace-normal text-ink-3">{note}</span>
    </span>
  );
}
