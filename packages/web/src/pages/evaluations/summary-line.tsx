import type { EvaluationSummaryGroup } from "@presage/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { resultSummaryQuery } from "../../data/evaluation-results.ts";
import { usePresage } from "../../data/use-presage.ts";
import { formatCount, formatScore, formatShare } from "../../format/format-number.ts";
import { Button } from "../../ui/button.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { toResultFilter } from "./explorer-filter.ts";
import { changeSearch, type Verdict } from "./explorer-search.ts";
import type { Explorer } from "./use-explorer.ts";

/** Totals of all matching results. The table does not wait for them. */
export function SummaryLine({ explorer }: { explorer: Explorer }) {
  const presage = usePresage();
  const { search } = explorer;
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...resultSummaryQuery(presage, toResultFilter(search)),
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
  const { figures, source } = data;
  const withoutVerdict = figures?.failed ?? 0;
  const isOfVerdicts = search.verdict !== "no-verdict" && search.verdict !== "unusable-input";
  const count = (figures?.count ?? 0) - (isOfVerdicts ? withoutVerdict : 0);
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
      {figures !== undefined && isOfVerdicts && <Quality figures={figures} verdict={search.verdict} />}
      {search.verdict === undefined && withoutVerdict > 0 && (
        <NoVerdictLinks explorer={explorer} count={withoutVerdict} />
      )}
      {isPlaceholderData && <span className="text-xs text-ink-3">Counting…</span>}
      {!isPlaceholderData && source === "results" && (
        <span
          className="text-xs text-ink-3"
          title="There are no precomputed totals for these filters, so every result was counted. This is slow for large numbers of results."
        >
          counted individually
        </span>
      )}
    </div>
  );
}

function Quality({
  figures,
  verdict,
}: {
  figures: EvaluationSummaryGroup;
  verdict: Explorer["search"]["verdict"];
}) {
  const { pass_rate, pass_rate_interval: interval, mean_score } = figures;
  return (
    <>
      {verdict === undefined && pass_rate !== null && (
        <Figure name="pass rate">
          {formatShare(pass_rate)}
          {interval !== null && (
            <span className="font-normal text-ink-3" title="95 % Wilson interval">
              {` ${(interval.lower * 100).toFixed(1)}–${formatShare(interval.upper)}`}
            </span>
          )}
        </Figure>
      )}
      {mean_score !== null && <Figure name="mean score">{formatScore(mean_score)}</Figure>}
    </>
  );
}

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

/** Counts the evaluations without a verdict, with a link for each cause. */
function NoVerdictLinks({ explorer: { search }, count }: { explorer: Explorer; count: number }) {
  const presage = usePresage();
  const { data } = useQuery(
    resultSummaryQuery(presage, toResultFilter(changeSearch(search, { verdict: "no-verdict" }))),
  );
  const failed = data === undefined ? undefined : (data.figures?.count ?? 0);
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <span className="inline-flex items-center gap-1.5 text-warn">
        <CircleAlert className="size-4" aria-hidden />
        {formatCount(count)} without a verdict
      </span>
      {failed !== undefined && failed > 0 && (
        <VerdictLink verdict="no-verdict">{formatCount(failed)} ended in an error</VerdictLink>
      )}
      {failed !== undefined && count > failed && (
        <VerdictLink verdict="unusable-input">{formatCount(count - failed)} without usable input</VerdictLink>
      )}
    </span>
  );
}

function VerdictLink({ verdict, children }: { verdict: Verdict; children: string | string[] }) {
  return (
    <Link
      from="/evaluations"
      search={(current) => changeSearch(current, { verdict })}
      resetScroll={false}
      className="rounded font-medium text-accent-ink underline decoration-accent-ink/40 underline-offset-2 hover:decoration-accent-ink"
    >
      {children}
    </Link>
  );
}
