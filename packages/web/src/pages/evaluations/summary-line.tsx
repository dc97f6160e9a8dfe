import type { EvaluationSummaryGroup } from "@presage/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChevronDown, CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { usePresage } from "../../data/client.ts";
import { resultCountQuery, resultRatesQuery } from "../../data/results.ts";
import { nameRate, profileOf, rateId, searchOfRate } from "../../data/summaries.ts";
import { type Cause, describeCause } from "../../format/errors.ts";
import {
  describeInterval,
  describeVerdicts,
  explainInterval,
  formatCount,
  formatScore,
  formatShare,
} from "../../format/numbers.ts";
import { changeSearch, type ResultsSearch } from "../../parts/results/results-search.ts";
import { RunName } from "../../parts/runs.tsx";
import { Button } from "../../ui/button.tsx";
import { Popover } from "../../ui/menu.tsx";
import { PassRate } from "../../ui/pass-rate.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Explained } from "../../ui/tooltip.tsx";
import { toResultFilter } from "./results-filter.ts";

/** Totals of all matching results. The table does not wait for them. */
export function SummaryLine({ search }: { search: ResultsSearch }) {
  const presage = usePresage();
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...resultCountQuery(presage, toResultFilter(search)),
    placeholderData: keepPreviousData,
  });
  if (error !== null) {
    return (
      <p className="flex min-h-7 items-center gap-2 text-sm text-ink-2">
        These results could not be counted.
        <Button size="small" onClick={() => refetch()}>
          Try again
        </Button>
      </p>
    );
  }
  if (data === undefined) return <Skeleton className="h-7 w-80" />;
  const { source, failed: withoutVerdict, leftOut } = data;
  const isOfVerdicts = search.verdict === undefined || search.verdict === "pass" || search.verdict === "fail";
  const count = data.count - (isOfVerdicts ? withoutVerdict + leftOut : 0);
  return (
    <div
      aria-live="polite"
      aria-busy={isPlaceholderData}
      className={clsx(
        "flex min-h-7 flex-wrap items-center gap-x-5 gap-y-1 text-sm",
        isPlaceholderData && "opacity-60",
      )}
    >
      <Figure name={`${isOfVerdicts ? "verdict" : "evaluation"}${count === 1 ? "" : "s"}`} isAfter>
        {formatCount(count)}
      </Figure>
      {isOfVerdicts && count > 0 && <Rates search={search} />}
      <WithoutVerdict search={search} />
      {isPlaceholderData && <span className="text-xs text-ink-3">Counting…</span>}
      {!isPlaceholderData && source === "results" && (
        <Explained
          className="text-xs text-ink-3"
          text="There are no precomputed totals for these filters, so every result was counted. This is slow for large numbers of results."
        >
          counted individually
        </Explained>
      )}
    </div>
  );
}

/** Counts the evaluations without a verdict, with a link for each cause. */
function WithoutVerdict({ search }: { search: ResultsSearch }) {
  const { total, causes } = useWithoutVerdict(search);
  if (total === 0) return null;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <span className="inline-flex items-center gap-1.5 text-warn">
        <CircleAlert className="size-4" aria-hidden />
        {formatCount(total)} without a verdict
      </span>
      {causes.map(([cause, count]) => (
        <Link
          key={cause}
          from="/evaluations"
          search={(current) => changeSearch(current, { verdict: cause })}
          resetScroll={false}
          className="rounded font-medium text-accent-ink underline decoration-accent-ink/40 underline-offset-2 hover:decoration-accent-ink"
        >
          {describeCause(cause, count)}
        </Link>
      ))}
    </span>
  );
}

/** How many matching evaluations are without a verdict, and why. */
export function useWithoutVerdict(search: ResultsSearch): { total: number; causes: [Cause, number][] } {
  const presage = usePresage();
  const { data: all } = useQuery({
    ...resultCountQuery(presage, toResultFilter(search)),
    placeholderData: keepPreviousData,
  });
  const total = search.verdict === undefined ? (all?.failed ?? 0) : 0;
  const { data: errors } = useQuery({
    ...resultCountQuery(presage, toResultFilter(changeSearch(search, { verdict: "error" }))),
    enabled: total > 0,
  });
  const { data: contradictory } = useQuery({
    ...resultCountQuery(presage, toResultFilter(changeSearch(search, { verdict: "contradictory" }))),
    enabled: total > 0,
  });
  if (errors === undefined || contradictory === undefined) return { total, causes: [] };
  const causes: [Cause, number][] = [
    ["error", errors.count],
    ["contradictory", contradictory.count],
    ["unusable-input", total - errors.count - contradictory.count],
  ];
  return { total, causes: causes.filter(([, count]) => count > 0) };
}

const maxListed = 50;

/** The rate of the evaluator and profile whose results match, or a list of them: rates of several, or of several runs, are never mixed. */
function Rates({ search }: { search: ResultsSearch }) {
  const presage = usePresage();
  const { data: rates } = useQuery({
    ...resultRatesQuery(presage, toResultFilter(search)),
    placeholderData: keepPreviousData,
  });
  const [only, ...others] = rates ?? [];
  if (only === undefined) return null;
  const hasRates = search.verdict === undefined;
  if (others.length === 0) return <OnlyRate figures={only} hasRate={hasRates} />;
  const name = hasRates ? "Pass rates" : "Mean scores";
  return (
    <Popover
      label={name}
      isReadOnly
      trigger={
        <Button size="small" variant="quiet" className="-mx-2">
          {formatCount(others.length + 1)} {name.toLowerCase()}, by evaluator and run
          <ChevronDown className="size-4" aria-hidden />
        </Button>
      }
    >
      <ul className="flex flex-col gap-3 text-sm">
        {[only, ...others].slice(0, maxListed).map((figures) => (
          <RateItem
            key={`${rateId(figures.key)} ${figures.key.evaluation_run_id}`}
            figures={figures}
            hasRate={hasRates}
          />
        ))}
        {others.length >= maxListed && <li className="text-ink-3">Filter by a run to see others.</li>}
      </ul>
    </Popover>
  );
}

function OnlyRate({ figures, hasRate }: { figures: EvaluationSummaryGroup; hasRate: boolean }) {
  const { pass_rate, pass_rate_interval: interval, mean_score } = figures;
  return (
    <>
      {hasRate && pass_rate !== null && (
        <Explained text={`${nameRate(figures.key)}. ${explainInterval(figures)}`}>
          <Figure name="pass rate">
            {formatShare(pass_rate)}
            <span className="font-normal text-ink-3">
              {interval !== null && ` ${describeInterval(interval)}`}
              {`, ${describeVerdicts(figures)}`}
            </span>
          </Figure>
        </Explained>
      )}
      {mean_score !== null && <Figure name="mean score">{formatScore(mean_score)}</Figure>}
    </>
  );
}

function RateItem({ figures, hasRate }: { figures: EvaluationSummaryGroup; hasRate: boolean }) {
  const { key, mean_score } = figures;
  const profile = profileOf(key);
  const run = key.evaluation_run_id;
  return (
    <li className="flex flex-col gap-1">
      <Link
        from="/evaluations"
        search={(current) => changeSearch(current, searchOfRate(key))}
        resetScroll={false}
        className="min-w-0 font-medium wrap-anywhere text-accent-ink underline-offset-2 hover:underline"
      >
        {key.evaluator_id}
        <span className="block text-xs font-normal text-ink-3">
          {profile}
          {profile !== undefined && " · "}
          {run ? <RunName id={run} /> : "direct evaluations"}
        </span>
      </Link>
      <span className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1">
        {hasRate && <PassRate figures={figures} />}
        {mean_score !== null && <Figure name="mean score">{formatScore(mean_score)}</Figure>}
      </span>
    </li>
  );
}

/** One figure of the summary, with its name before or after it. */
function Figure({
  name,
  isAfter = false,
  children,
}: {
  name: string;
  isAfter?: boolean;
  children: ReactNode;
}) {
  return (
    <span className={clsx("inline-flex items-baseline gap-1.5", isAfter && "flex-row-reverse")}>
      <span className="text-ink-2">{name}</span>
      <span className="font-semibold tabular-nums">{children}</span>
    </span>
  );
}
