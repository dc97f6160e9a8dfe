import { Link } from "@tanstack/react-router";
import type { PeriodSummary } from "../../data/summaries.ts";
import { shareOf } from "../../data/usage-figures.ts";
import { formatCount, formatShare } from "../../text/format-number.ts";
import { compareAmounts, compareShares } from "./compare.ts";
import { Stat } from "./stat.tsx";

/** How many evaluations there were, how many passed, and how many came to no verdict. */
export function EvaluationStats({ summary }: { summary: PeriodSummary | undefined }) {
  const { all, before } = summary ?? {};
  const count = all?.count ?? 0;
  const failed = all?.failed ?? 0;
  const interval = all?.pass_rate_interval;
  return (
    <>
      <Stat
        label="Evaluations"
        value={summary && formatCount(count)}
        change={compareAmounts({ current: count, before: before?.count ?? 0, format: formatCount })}
      >
        {all && `${formatCount(all.passed)} passed, ${formatCount(all.not_passed)} failed`}
      </Stat>
      <Stat
        label="Pass rate"
        value={summary && formatShare(all?.pass_rate ?? null)}
        change={compareShares({
          current: all?.pass_rate ?? null,
          before: before?.pass_rate ?? null,
          format: formatShare,
          isMoreGood: true,
          intervals: [interval ?? null, before?.pass_rate_interval ?? null],
        })}
      >
        {interval && `95 %: ${formatShare(interval.lower)} to ${formatShare(interval.upper)}`}
      </Stat>
      <Stat
        label="Without a verdict"
        value={summary && formatCount(failed)}
        change={compareShares({
          current: shareOf(failed, count),
          before: before ? shareOf(before.failed, before.count) : null,
          format: formatShare,
          isMoreGood: false,
        })}
      >
        {failed > 0 ? (
          <Link to="/evaluations" className="text-accent-ink underline-offset-2 hover:underline">
            {formatShare(shareOf(failed, count))} of all: see why
          </Link>
        ) : (
          "They count as neither pass nor fail"
        )}
      </Stat>
    </>
  );
}
