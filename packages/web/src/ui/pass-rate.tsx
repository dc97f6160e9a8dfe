import type { EvaluationSummaryGroup } from "@presage/sdk";
import { describeInterval, describeVerdicts, explainInterval, formatShare } from "../format/numbers.ts";
import { IntervalBar } from "./charts/sparkline.tsx";
import { Explained } from "./tooltip.tsx";

/** The pass rate of one evaluator and profile, with its interval and with how many verdicts and clusters it has. */
export function PassRate({ figures }: { figures: EvaluationSummaryGroup }) {
  const { pass_rate, pass_rate_interval: interval } = figures;
  if (pass_rate === null) return <span className="text-ink-3">No verdicts</span>;
  return (
    <Explained text={explainInterval(figures)} className="inline-flex flex-col">
      <RateCell rate={pass_rate} interval={interval} />
      <span className="flex flex-wrap gap-x-2 text-xs text-ink-3 tabular-nums">
        <span aria-hidden className="whitespace-nowrap text-ink-2">
          {interval === null ? "no interval" : describeInterval(interval)}
        </span>
        <span className="whitespace-nowrap">{describeVerdicts(figures)}</span>
      </span>
    </Explained>
  );
}

interface RateCellProps {
  rate: number | null;
  interval: { lower: number; upper: number } | null;
}

/** A rate as a number, and as a point in its interval. */
export function RateCell({ rate, interval }: RateCellProps) {
  if (rate === null) return <span className="text-ink-3">–</span>;
  const range = interval === null ? undefined : `${describeInterval(interval)}, at 95 %`;
  return (
    <span className="flex items-center gap-3">
      <span className="w-14 shrink-0 tabular-nums">{formatShare(rate)}</span>
      {interval !== null && (
        <span className="w-28 shrink-0 max-md:sr-only" title={range}>
          <IntervalBar value={rate} lower={interval.lower} upper={interval.upper} />
          <span className="sr-only">{range}</span>
        </span>
      )}
    </span>
  );
}
