import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { CircleAlert } from "lucide-react";
import { resultCountQuery } from "../../data/evaluation/evaluation-results.ts";
import { usePresage } from "../../data/use-presage.ts";
import { describeCause } from "../../format/describe-cause.ts";
import { formatCount } from "../../format/format-number.ts";
import { changeSearch, type Filtering } from "../../parts/results-search.ts";
import { Button } from "../../ui/button.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { toResultFilter } from "./explorer-filter.ts";
import { Figure } from "./figure.tsx";
import { Rates } from "./rates.tsx";
import { useWithoutVerdict } from "./use-without-verdict.ts";

/** Totals of all matching results. The table does not wait for them. */
export function SummaryLine({ filtering }: { filtering: Filtering }) {
  const presage = usePresage();
  const { search } = filtering;
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
      {isOfVerdicts && count > 0 && <Rates filtering={filtering} />}
      <WithoutVerdict filtering={filtering} />
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

/** Counts the evaluations without a verdict, with a link for each cause. */
function WithoutVerdict({ filtering: { search } }: { filtering: Filtering }) {
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
