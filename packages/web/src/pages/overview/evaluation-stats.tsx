import { Link } from "@tanstack/react-router";
import type { PeriodSummary } from "../../data/summaries.ts";
import { formatCount, formatShare } from "../../format/format-number.ts";
import { formatStepShort } from "../../ui/charts/format-step.ts";
import type { Verdict } from "../evaluations/explorer-search.ts";
import { compareAmounts, compareRatios } from "./compare.ts";
import { Stat } from "./stat.tsx";

const nothing = { count: 0, passed: 0, not_passed: 0, failed: 0, pass_rate: null, pass_rate_interval: null };

export function EvaluationStats({ summary }: { summary: PeriodSummary | undefined }) {
  const all = summary?.all ?? nothing;
  const before = summary?.before ?? nothing;
  const interval = all.pass_rate_interval;
  return (
    <>
      <Stat
        label={
          summary?.period === "24h"
            ? `Evaluations since ${formatStepShort(Date.parse(summary.since), "day")}, UTC`
            : "Evaluations"
        }
        value={summary && formatCount(all.count)}
        change={compareAmounts({ current: all.count, before: before.count, format: formatCount })}
      >
        {`${formatCount(all.passed)} passed, ${formatCount(all.not_passed)} did not pass`}
      </Stat>
      <Stat
        label="Pass rate"
        value={summary && formatShare(all.pass_rate)}
        change={compareRatios({
          current: { part: all.passed, whole: all.passed + all.not_passed },
          before: { part: before.passed, whole: before.passed + before.not_passed },
          format: formatShare,
          isMoreGood: true,
        })}
      >
        {interval
          ? `${formatShare(interval.lower)} to ${formatShare(interval.upper)} at 95 %`
          : "No verdicts yet"}
      </Stat>
      <Stat
        label="Without a verdict"
        value={summary && formatCount(all.failed)}
        change={compareRatios({
          current: { part: all.failed, whole: all.count },
          before: { part: before.failed, whole: before.count },
          format: formatShare,
          isMoreGood: false,
        })}
      >
        {all.failed > 0 && summary ? (
          <Reasons {...summary} count={all.failed} />
        ) : (
          all.count > 0 && "Every evaluation has one"
        )}
      </Stat>
    </>
  );
}

/** Errors and unusable inputs are two different filters of the explorer. */
function Reasons({ since, lackedInput, count }: PeriodSummary & { count: number }) {
  const lacked = lackedInput.values().reduce((sum, ofEvaluator) => sum + ofEvaluator, 0);
  const reasons: { verdict: Verdict; count: number; words: string }[] = [
    { verdict: "no-verdict", count: count - lacked, words: "ended in an error" },
    { verdict: "unusable-input", count: lacked, words: "had no usable input" },
  ];
  return (
    <span className="flex flex-wrap gap-x-3">
      {reasons
        .filter(({ count }) => count > 0)
        .map(({ verdict, count, words }) => (
          <Link
            key={verdict}
            to="/evaluations"
            search={{ verdict, since }}
            className="text-accent-ink underline-offset-2 hover:underline"
          >
            {formatCount(count)} {words}
          </Link>
        ))}
    </span>
  );
}
