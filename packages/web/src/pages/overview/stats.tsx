import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import type { ReactNode } from "react";
import type { PeriodSummary } from "../../data/summaries.ts";
import type { ComparedLatency, ComparedUsage } from "../../data/usage.ts";
import { countTokens, isPrediction, shareOf, sumUsage } from "../../data/usage.ts";
import { type Cause, describeCause } from "../../format/errors.ts";
import { formatCount, formatDuration, formatShare, formatShortCount } from "../../format/numbers.ts";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Explained, ExplainedName } from "../../ui/tooltip.tsx";
import { type Change, compareAmounts, compareRatios } from "./compare.ts";

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

interface PredictionStatsProps {
  usage: ComparedUsage | undefined;
  latency: ComparedLatency | undefined;
}

export function PredictionStats({ usage, latency }: PredictionStatsProps) {
  const current = usage && sumUsage(usage.current.data.filter(isPrediction));
  const before = usage && sumUsage(usage.before.data.filter(isPrediction));
  const tokens = current && (current.promptTokens === null ? null : countTokens(current));
  return (
    <>
      <Stat
        label="Requests"
        explanation="Clients’ requests for a prediction in the period, with those that failed. The Predictions page counts what is stored, runs and episodes included."
        value={current && formatCount(current.requests)}
        change={
          current &&
          before &&
          compareAmounts({ current: current.requests, before: before.requests, format: formatCount })
        }
      >
        {current && `${formatCount(current.requests - current.failed)} succeeded`}
      </Stat>
      <Stat
        label="Error rate"
        explanation="The share of these requests that failed, for any reason."
        value={current && formatShare(shareOf(current.failed, current.requests))}
        change={
          current &&
          before &&
          compareRatios({
            current: { part: current.failed, whole: current.requests },
            before: { part: before.failed, whole: before.requests },
            format: formatShare,
            isMoreGood: false,
          })
        }
      >
        {current && `${formatCount(current.failed)} failed`}
      </Stat>
      <LatencyStat latency={latency} />
      <Stat
        label="Tokens"
        explanation="Of prompts and completions of these requests, as the upstream counted them."
        value={tokens === undefined ? undefined : formatShortCount(tokens)}
        exact={tokens === undefined ? undefined : formatCount(tokens)}
        change={
          tokens != null && before !== undefined
            ? compareAmounts({
                current: tokens,
                before: countTokens(before),
                format: formatShortCount,
              })
            : undefined
        }
      >
        {current &&
          `${formatShortCount(current.promptTokens)} in, ${formatShortCount(current.completionTokens)} out`}
      </Stat>
    </>
  );
}

function LatencyStat({ latency }: { latency: ComparedLatency | undefined }) {
  const current = latency?.current.overall.total_ms;
  const before = latency?.before.overall.total_ms;
  const overhead = latency?.current.overall.overhead_ms;
  return (
    <Stat
      label="Latency, median"
      explanation="Half of these requests took at most this, with the upstream’s time."
      value={latency && (current ? formatDuration(current.p50) : "–")}
      change={
        current && before
          ? compareAmounts({
              current: current.p50,
              before: before.p50,
              format: formatDuration,
              isMoreGood: false,
            })
          : undefined
      }
    >
      {overhead && `of which Presage ${formatDuration(overhead.p50)}`}
    </Stat>
  );
}

interface StatProps {
  label: string;
  /** What the figure is. */
  explanation: string;
  /** Undefined while loading. */
  value: string | undefined;
  /** What the value is, in full: shown where it is pointed at or focused. */
  exact?: string | undefined;
  change?: Change | undefined;
  /** A line below the value. */
  children?: ReactNode;
}

/** One figure. Its size stays the same while loading. */
function Stat({ label, explanation, value, exact, change, children }: StatProps) {
  return (
    <div className="flex min-w-0 flex-col gap-0.5 bg-surface px-4 py-3">
      <dt className="text-xs text-ink-3">
        <ExplainedName name={label} explanation={explanation} />
      </dt>
      <dd className="flex min-h-7 items-baseline gap-2">
        {value === undefined ? (
          <Skeleton className="h-5 w-20 self-center" />
        ) : (
          <Explained text={exact} className="truncate text-lg font-semibold tracking-tight tabular-nums">
            {value}
          </Explained>
        )}
        {change !== undefined && (
          <Explained
            text={change.long}
            className={clsx(
              "text-xs whitespace-nowrap tabular-nums",
              change.isGood === undefined && "text-ink-3",
              change.isGood === true && "text-pass",
              change.isGood === false && "text-fail",
            )}
          >
            <span aria-hidden>{change.short}</span>
            <span className="sr-only">{change.long}</span>
          </Explained>
        )}
      </dd>
      <dd className="h-4.5 truncate text-xs text-ink-2 tabular-nums">{value !== undefined && children}</dd>
    </div>
  );
}
