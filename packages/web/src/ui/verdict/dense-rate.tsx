import type { EvaluationSummaryGroup } from "@presage/sdk";
import { describeInterval, describeVerdicts, explainInterval, formatShare } from "../../format/numbers.ts";
import { IntervalBar } from "../charts/interval-bar.tsx";
import { Explained } from "../tooltip.tsx";

/** The pass rate of one evaluator and profile on one line: number, point in its interval, interval. */
export function DenseRate({ figures }: { figures: EvaluationSummaryGroup }) {
  const { pass_rate, pass_rate_interval: interval } = figures;
  if (pass_rate === null) return <span className="text-ink-3">–</span>;
  return (
    <Explained
      text={`${describeVerdicts(figures)}. ${explainInterval(figures)}`}
      className="flex items-center gap-3 tabular-nums"
    >
      <span className="w-14 shrink-0 text-right text-ink">{formatShare(pass_rate)}</span>
      {interval !== null && (
        <>
          <span aria-hidden className="w-24 shrink-0">
            <IntervalBar value={pass_rate} lower={interval.lower} upper={interval.upper} />
          </span>
          <span className="text-xs text-ink-3">{describeInterval(interval)}</span>
        </>
      )}
    </Explained>
  );
}
