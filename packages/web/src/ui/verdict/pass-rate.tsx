import type { EvaluationSummaryGroup } from "@presage/sdk";
import { describeInterval, describeVerdicts, explainInterval } from "../../format/numbers.ts";
import { Explained } from "../tooltip.tsx";
import { RateCell } from "./rate-cell.tsx";

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
