import type { EvaluationSummaryGroup } from "@presage/sdk";
import { verdictsOf } from "../../data/figures/rate-group.ts";
import { PassRate } from "../../ui/verdict/pass-rate.tsx";

/** The pass rate of each evaluator with one revision of a profile; with its name if there are several. */
export function RevisionRates({ figures }: { figures: readonly EvaluationSummaryGroup[] }) {
  const judged = figures.filter((one) => verdictsOf(one) > 0);
  if (judged.length === 0) return <span className="text-ink-3">–</span>;
  return (
    <span className="flex flex-col gap-1">
      {judged.map((one) => (
        <span key={one.key.evaluator_id} className="flex flex-col">
          {judged.length > 1 && <span className="text-xs text-ink-3">{one.key.evaluator_id}</span>}
          <PassRate figures={one} />
        </span>
      ))}
    </span>
  );
}
