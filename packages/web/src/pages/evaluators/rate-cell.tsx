import { formatShare } from "../../format/format-number.ts";
import { IntervalBar } from "../../ui/charts/interval-bar.tsx";

interface RateCellProps {
  rate: number | null;
  interval: { lower: number; upper: number } | null;
}

/** A rate as a number, and as a point in its interval. */
export function RateCell({ rate, interval }: RateCellProps) {
  if (rate === null) return <span className="text-ink-3">–</span>;
  const span =
    interval === null
      ? undefined
      : `${formatShare(interval.lower)} to ${formatShare(interval.upper)}, at 95 %`;
  return (
    <span className="flex items-center gap-3" title={span}>
      <span className="w-14 shrink-0 text-right tabular-nums">{formatShare(rate)}</span>
      {interval !== null && (
        <span className="w-28 shrink-0">
          <IntervalBar value={rate} lower={interval.lower} upper={interval.upper} />
          <span className="sr-only">{span}</span>
        </span>
      )}
    </span>
  );
}
