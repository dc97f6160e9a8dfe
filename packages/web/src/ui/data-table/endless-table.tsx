import type { ReactNode } from "react";
import { ErrorNotice } from "../error-notice.tsx";
import { DataTable } from "./data-table.tsx";
import type { DataTableModel } from "./use-data-table.ts";
import { type Pages, useLoadMore } from "./use-load-more.ts";

/** Of TanStack Query's infinite query. */
export interface EndlessList extends Pages {
  data: unknown;
  error: Error | null;
  refetch(): unknown;
}

interface EndlessTableProps<Row> {
  table: DataTableModel<Row>;
  list: EndlessList;
  /** In place of the table when it has no rows. */
  empty: ReactNode;
  expectedRows: number;
  isFull?: boolean;
}

/** A table that loads its next page when the last row comes near. What went wrong stands where the missing rows would be. */
export function EndlessTable<Row>({
  table,
  list,
  empty,
  expectedRows,
  isFull = false,
}: EndlessTableProps<Row>) {
  const { data, error, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, refetch } = list;
  const loadMore = useLoadMore(list);
  return (
    <>
      {error !== null && !isFetchNextPageError && (
        <div className="p-4">
          <ErrorNotice error={error} onRetry={refetch} />
        </div>
      )}
      {(error === null || data !== undefined) && (
        <DataTable
          table={table}
          isFull={isFull}
          expectedRows={expectedRows}
          empty={empty}
          onNearEnd={hasNextPage ? loadMore : undefined}
          end={
            (isFetchingNextPage || isFetchNextPageError) && (
              <div className="sticky left-0 px-4 py-3 text-xs text-ink-3">
                {isFetchNextPageError && <ErrorNotice error={error} onRetry={fetchNextPage} />}
                {isFetchingNextPage && "Loading more…"}
              </div>
            )
          }
        />
      )}
    </>
  );
}
