import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleAlert, ListChecks, SearchX } from "lucide-react";
import { useCallback } from "react";
import type { ResultRow } from "../../data/evaluation-results.ts";
import { describeCause } from "../../format/describe-cause.ts";
import { formatCount } from "../../format/format-number.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { changeSearch } from "./explorer-search.ts";
import { activeFilters, noFilters } from "./filters/filter-labels.ts";
import { ResultsTable } from "./table/results-table.tsx";
import { TableSkeleton } from "./table/table-skeleton.tsx";
import type { Explorer } from "./use-explorer.ts";
import { useWithoutVerdict } from "./use-without-verdict.ts";

interface ResultListProps {
  list: Pick<
    UseInfiniteQueryResult,
    | "error"
    | "fetchNextPage"
    | "hasNextPage"
    | "isFetchingNextPage"
    | "isPending"
    | "isFetchNextPageError"
    | "refetch"
  >;
  rows: ResultRow[];
  activeId: string | undefined;
  explorer: Explorer;
  onActivate(id: string): void;
  onOpen(id: string): void;
}

export function ResultList({ list, rows, activeId, explorer, onActivate, onOpen }: ResultListProps) {
  const { error, fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError, isPending, refetch } =
    list;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);

  if (isPending) return <TableSkeleton />;
  if (error !== null && rows.length === 0) {
    return (
      <div className="p-4">
        <ErrorNotice error={error} onRetry={refetch} />
      </div>
    );
  }
  if (rows.length === 0) return <NoRows explorer={explorer} />;
  return (
    <ResultsTable
      rows={rows}
      activeId={activeId}
      openId={explorer.search.result}
      onActivate={onActivate}
      onOpen={onOpen}
      onNearEnd={loadMore}
      end={
        <div className="sticky left-0 px-4 py-3 text-xs text-ink-3">
          {isFetchNextPageError && <ErrorNotice error={error} onRetry={fetchNextPage} />}
          {isFetchingNextPage && "Loading more…"}
          {!hasNextPage &&
            (rows.length === 1 ? "1 result." : `All ${formatCount(rows.length)} results loaded.`)}
        </div>
      }
    />
  );
}

function NoRows({ explorer: { search, change } }: { explorer: Explorer }) {
  const { total, causes } = useWithoutVerdict(search);
  if (total > 0) {
    return (
      <EmptyState
        icon={CircleAlert}
        title={`${formatCount(total)} without a verdict`}
        actions={causes.map(([cause, count]) => (
          <Link
            key={cause}
            from="/evaluations"
            search={(current) => changeSearch(current, { verdict: cause })}
            className={buttonClass({})}
          >
            Show {describeCause(cause, count)}
          </Link>
        ))}
      >
        {total === 1
          ? "The evaluation that matches neither passed nor failed. Its error message says why."
          : "The evaluations that match neither passed nor failed. Their error messages say why."}
      </EmptyState>
    );
  }
  if (activeFilters(search).length > 0) {
    return (
      <EmptyState
        icon={SearchX}
        title="No results match these filters"
        actions={<Button onClick={() => change(noFilters(search))}>Clear the filters</Button>}
      >
        Remove a filter, or change the time range.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={ListChecks}
      title="No verdicts yet"
      actions={
        <Link to="/playground" className={buttonClass({ variant: "primary" })}>
          Open the playground
        </Link>
      }
    >
      Predict something in the playground and evaluate the response, or send your own outputs to POST
      /v1/evaluate.
    </EmptyState>
  );
}
