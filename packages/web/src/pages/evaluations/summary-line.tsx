import type { EvaluationSummaryGroup } from "@presage/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { usePresage } from "../../data/client.ts";
import { resultValuesQuery } from "../../data/result-values.ts";
import { resultCountQuery, resultRatesQuery } from "../../data/results.ts";
import { nameRate, rateId, searchOfRate } from "../../data/summaries.ts";
import { type Cause, describeCause } from "../../format/errors.ts";
import {
  describeInterval,
  describeVerdicts,
  explainInterval,
  formatCount,
  formatScore,
  formatShare,
} from "../../format/numbers.ts";
import { shortEvaluatorName } from "../../format/words.ts";
import { changeSearch, type Filtering, type ResultsSearch } from "../../parts/results/results-search.ts";
import { Button } from "../../ui/button.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Explained } from "../../ui/tooltip.tsx";
import { toResultFilter } from "./results-filter.ts";

export interface ResultsViewProps {
  filtering: Filtering;
  /** Actions on all matching results. */
  children: ReactNode;
}

/** The totals of a list, and its actions. */
export function ResultsBar({ search, children }: { search: ResultsSearch; children: ReactNode }) {
  return (
    <div className="flex items-start gap-x-2 border-b border-line py-1.5 pr-2 pl-4">
      <div className="min-w-0 flex-1">
        <SummaryLine search={search} />
      </div>
      {children}
    </div>
  );
}

/** Totals of all matching results. The table does not wait for these. */
function SummaryLine({ search }: { search: ResultsSearch }) {
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
  const { failed: withoutVerdict, leftOut } = data;
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
    </div>
  );
}

/** The number of evaluations without a verdict, with a link for each cause. */
function WithoutVerdict({ search }: { search: ResultsSearch }) {
  const { total, causes } = useWithoutVerdict(search);
  if (total === 0) return null;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <span className="inline-flex items-center gap-1.5 text-warn">
        <CircleAlert className="size-4" aria-hidden />
        {causes.length !== 1 && `${formatCount(total)} without a verdict`}
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
          {causes.length === 1 && " without a verdict"}
        </Link>
      ))}
    </span>
  );
}

/** The number of matching evaluations without a verdict, and the causes. */
export function useWithoutVerdict(search: ResultsSearch): { total: number; causes: [Cause, number][] } {
  const presage = usePresage();
  // Without data of the previous filter, as the counts below are subtracted from it.
  const { data: all } = useQuery(resultCountQuery(presage, toResultFilter(search)));
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

/** The rates of the matching evaluators and profiles, if they are few. Rates of several, or of several runs, are never mixed. */
function Rates({ search }: { search: ResultsSearch }) {
  const presage = usePresage();
  const filter = toResultFilter(search);
  // Already cached by the filter's options. The rates of hundreds of runs would be megabytes, and none of them are shown.
  const { data: runs } = useQuery(resultValuesQuery(presage, filter, "run"));
  const isOfRuns =
    search.run === undefined && runs !== undefined && runs.length > 1 && runs[0]?.count !== undefined;
  const { data: rates } = useQuery({
    ...resultRatesQuery(presage, filter),
    placeholderData: keepPreviousData,
    enabled: runs !== undefined && !isOfRuns,
  });
  const hasRates = search.verdict === undefined;
  if (isOfRuns) return null;
  const [only, ...others] = rates ?? [];
  if (only === undefined) return null;
  const isOneRun = others.every(({ key }) => key.evaluation_run_id === only.key.evaluation_run_id);
  if (others.length === 0 || (hasRates && isOneRun && others.length < 5))
    return [only, ...others].map((figures) => (
      <RateInLine
        key={rateId(figures.key)}
        figures={figures}
        hasRate={hasRates}
        isOnly={others.length === 0}
      />
    ));
  // Several runs have different models, so they never share a rate.
  return null;
}

interface RateInLineProps {
  figures: EvaluationSummaryGroup;
  hasRate: boolean;
  isOnly: boolean;
}

/** One of a run's few rates, with a link to its verdicts; if it is the only rate, all of its figures. */
function RateInLine({ figures, hasRate, isOnly }: RateInLineProps) {
  const { key, pass_rate, pass_rate_interval: interval, mean_score } = figures;
  const name = shortEvaluatorName({
    evaluator: key.evaluator_id ?? "",
    profile_name: key.profile_name ?? null,
  });
  return (
    <>
      {hasRate && pass_rate !== null && (
        <span className="inline-flex flex-wrap items-baseline gap-x-1.5">
          {isOnly ? (
            <span className="text-ink-2">pass rate</span>
          ) : (
            <Link
              from="/evaluations"
              search={(current) => changeSearch(current, searchOfRate(key))}
              resetScroll={false}
              className="text-accent-ink underline-offset-2 hover:underline"
            >
              {name}
            </Link>
          )}
          <Explained text={`${nameRate(key)}. ${explainInterval(figures)}`}>
            <b className="font-semibold tabular-nums">{formatShare(pass_rate)}</b>
            <span className="text-ink-3">
              {interval !== null && ` ${describeInterval(interval)}`}
              {isOnly && `, ${describeVerdicts(figures)}`}
            </span>
          </Explained>
        </span>
      )}
      {isOnly && mean_score !== null && <Figure name="mean score">{formatScore(mean_score)}</Figure>}
    </>
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
