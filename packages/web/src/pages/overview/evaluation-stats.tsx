import { Link } from "@tanstack/react-router";
import type { PeriodSummary } from "../../data/evaluation/summaries.ts";
import { type Cause, describeCause } from "../../format/describe-cause.ts";
import { formatCount, formatShare } from "../../format/format-number.ts";
import { compareAmounts, compareRatios } from "./compare.ts";
import { Stat } from "./stat.tsx";

const nothing = { count: 0, failed: 0 };

/** Counts only: a pass rate of several evaluators together means nothing. */
export function EvaluationStats({ summary }: { summary: PeriodSummary | undefined }) {
  const all = summary?.all ?? nothing;
  const before = summary?.before ?? nothing;
  const rates = summary?.rates.length ?? 0;
  return (
    <>
      <Stat
        label="Direct evaluations"
        explanation="Verdicts that were asked for in the period outside runs, of all evaluators, with those that failed."
        value={summary && formatCount(all.count)}
        change={compareAmounts({ current: all.count, before: before.count, format: formatCount })}
      >
        {rates > 0 && `by ${formatCount(rates)} ${rates === 1 ? "evaluator" : "evaluators"}`}
      </Stat>
      <Stat
        label="Without a verdict"
        explanation="Direct evaluations that failed, or whose sample lacked what the evaluator needs. They count as neither pass nor fail."
        value={summary && formatCount(all.failed)}
        change={compareRatios({
          current: { part: all.failed, whole: all.count },
          before: { part: before.failed, whole: before.count },
          format: formatShare,
          isMoreGood: false,
        })}
      >
        {all.failed > 0 && summary ? (
          <Causes {...summary} count={all.failed} />
        ) : (
          all.count > 0 && "Every evaluation has one"
        )}
      </Stat>
    </>
  );
}

/** Errors and unusable inputs are two different filters of the results. */
function Causes({ since, lackedInput, count }: PeriodSummary & { count: number }) {
  const lacked = lackedInput.values().reduce((sum, ofRate) => sum + ofRate, 0);
  const causes: [Cause, number][] = [
    ["error", count - lacked],
    ["unusable-input", lacked],
  ];
  return (
    <span className="flex gap-x-3">
      {causes
        .filter(([, count]) => count > 0)
        .map(([cause, count]) => (
          <Link
            key={cause}
            to="/evaluations"
            search={{ verdict: cause, since, direct: true }}
            className="text-accent-ink underline-offset-2 hover:underline"
          >
            {describeCause(cause, count)}
          </Link>
        ))}
    </span>
  );
}
