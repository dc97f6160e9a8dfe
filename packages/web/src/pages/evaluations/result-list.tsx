import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleAlert, ListChecks, SearchX } from "lucide-react";
import type { ComponentProps } from "react";
import type { ResultRow } from "../../data/results.ts";
import { describeCause } from "../../format/errors.ts";
import { formatCount } from "../../format/numbers.ts";
import { ResultDetails } from "../../parts/results/result-drawer.tsx";
import { changeSearch, type Filtering } from "../../parts/results/results-search.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { DataTable, useLoadMore } from "../../ui/data-table/data-table.tsx";
import type { DataTableModel } from "../../ui/data-table/table-model.ts";
import { Drawer } from "../../ui/dialog.tsx";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { activeFilters, noFilters } from "./results-filter.ts";
import { useWithoutVerdict } from "./summary-line.tsx";

interface ResultListProps {
  list: Pick<
    UseInfiniteQueryResult,
    "error" | "fetchNextPage" | "hasNextPage" | "isFetchingNextPage" | "isFetchNextPageError" | "refetch"
  >;
  table: DataTableModel<ResultRow>;
  filtering: Filtering;
}

const expectedRows = 20;

export function ResultList({ list, table, filtering }: ResultListProps) {
  const { error, fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError, refetch } = list;
  const count = table.sortedRows.length;
  const loadMore = useLoadMore(list);

  if (error !== null && count === 0) {
    return (
      <div className="p-4">
        <ErrorNotice error={error} onRetry={refetch} />
      </div>
    );
  }
  return (
    <DataTable
      table={table}
      isFull
      expectedRows={expectedRows}
      empty={<NoRows filtering={filtering} />}
      onNearEnd={loadMore}
      end={
        table.rows !== undefined && (
          <div className="sticky left-0 px-4 py-3 text-xs text-ink-3">
            {isFetchNextPageError && <ErrorNotice error={error} onRetry={fetchNextPage} />}
            {isFetchingNextPage && "Loading more…"}
            {!hasNextPage && (count === 1 ? "1 result." : `All ${formatCount(count)} results loaded.`)}
          </div>
        )
      }
    />
  );
}

interface OpenResultProps
  extends Pick<ComponentProps<typeof ResultDetails>, "filtering" | "row" | "previous" | "next" | "above"> {
  onCloseAutoFocus(event: Event): void;
}

/** The result that the address names, next to the list. */
export function OpenResult({ onCloseAutoFocus, ...details }: OpenResultProps) {
  const { search, change } = details.filtering;
  const close = () => change({ result: undefined }, { replace: true });
  return (
    <Drawer
      isOpen={search.result !== undefined}
      onClose={close}
      title={`Result ${search.result}`}
      onCloseAutoFocus={onCloseAutoFocus}
    >
      {search.result !== undefined && (
        <ResultDetails
          {...details}
          id={search.result}
          // Moving between results adds nothing to the browser's history.
          onOpen={(result) => change({ result }, { replace: true })}
          onClose={close}
        />
      )}
    </Drawer>
  );
}

export function NoRows({ filtering: { search, change } }: { filtering: Filtering }) {
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
      Start a run, evaluate a response in the playground, or send your own outputs to{" "}
      <code className="font-mono text-xs">POST /v1/evaluate</code>.
    </EmptyState>
  );
}
