import type { EvaluationSummaryGroup } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { nameRate, searchOfRate } from "../../data/figures/rate-group.ts";
import { describeInterval, describeVerdicts, explainInterval } from "../../format/describe-rate.ts";
import { formatCount, formatScore, formatShare } from "../../format/format-number.ts";
import { formatStep } from "../../ui/charts/format-step.ts";
import { IntervalBar } from "../../ui/charts/interval-bar.tsx";
import { Explained } from "../../ui/overlay/explained.tsx";
import type { Verdict } from "../evaluations/explorer-search.ts";

const dayMs = 86_400_000;
const marks = ["0", "50 %", "100 %"];

/** One day makes no line: its rate on an axis with its interval, and what it is made of. */
export function OnlyDay({ figures }: { figures: EvaluationSummaryGroup }) {
  const { pass_rate, pass_rate_interval: interval, passed, not_passed, failed, mean_score, key } = figures;
  const startMs = Date.parse(key.day ?? "");
  const day = {
    ...searchOfRate(key),
    since: new Date(startMs).toISOString(),
    until: new Date(startMs + dayMs).toISOString(),
  };
  const count = (value: number, verdict: Verdict) =>
    value === 0 ? (
      "0"
    ) : (
      <Link
        to="/evaluations"
        search={{ ...day, verdict }}
        className="text-accent-ink underline-offset-2 hover:underline"
      >
        {formatCount(value)}
      </Link>
    );
  return (
    <figure
      aria-label={`Pass rate by day of ${nameRate(key)}`}
      className="flex min-h-0 flex-1 flex-col justify-between gap-3 overflow-y-auto p-4"
    >
      <div className="flex flex-wrap items-baseline gap-x-3">
        <span className="text-2xl font-semibold tracking-tight tabular-nums">{formatShare(pass_rate)}</span>
        <Explained text={explainInterval(figures)} className="text-sm text-ink-2">
          {interval === null ? "no interval" : `95 % interval ${describeInterval(interval)}`}
        </Explained>
        <span className="text-sm text-ink-3 sm:ml-auto">{formatStep(startMs, "day")}</span>
      </div>
      <Axis rate={pass_rate ?? 0} interval={interval} />
      <dl className="grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-4">
        <Part name="Passed">{count(passed, "pass")}</Part>
        <Part name="Did not pass">{count(not_passed, "fail")}</Part>
        {/* Of two causes, each with a list of its own. */}
        <Part name="Without a verdict">{formatCount(failed)}</Part>
        <Part name="Mean score">{formatScore(mean_score)}</Part>
      </dl>
      <figcaption className="text-xs text-ink-3">
        {describeVerdicts(figures)}, all on one day. With a second day, a chart is shown here.
      </figcaption>
    </figure>
  );
}

/** From 0 to 100 %: the rate with its interval. */
function Axis({ rate, interval }: { rate: number; interval: EvaluationSummaryGroup["pass_rate_interval"] }) {
  const { lower, upper } = interval ?? { lower: rate, upper: rate };
  return (
    <div aria-hidden className="flex flex-col gap-1">
      <IntervalBar value={rate} lower={lower} upper={upper} />
      <div className="grid grid-cols-3 text-center text-xs text-ink-3 tabular-nums *:first:text-left *:last:text-right">
        {marks.map((mark) => (
          <span key={mark}>{mark}</span>
        ))}
      </div>
    </div>
  );
}

function Part({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="text-sm font-medium tabular-nums">{children}</dd>
    </div>
  );
}
