import { describeInterval, formatShare } from "../../format/numbers.ts";
import { IntervalBar } from "../charts/interval-bar.tsx";

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
