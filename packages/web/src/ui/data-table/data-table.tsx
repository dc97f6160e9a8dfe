import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useCallback, useEffect } from "react";
import { ErrorNotice } from "../notice.tsx";
import { usePrinting } from "../screen.ts";
import { allRows, type RenderedRows, TableFrame, type TableFrameProps } from "./table-frame.tsx";
import type { DataTableModel } from "./table-model.ts";

interface DataTableProps<Row> extends TableFrameProps<Row> {
  /** Shown in place of the table when there are no rows. */
  empty: ReactNode;
}

/** A table that, if it has many rows, renders only the visible ones. */
export function DataTable<Row>({ empty, ...props }: DataTableProps<Row>) {
  return props.table.rows?.length === 0 ? empty : <FilledTable {...props} />;
}

function FilledTable<Row>(props: TableFrameProps<Row>) {
  return <TableFrame {...props} rendered={useVirtualRows(props.table, props.onNearEnd)} />;
}

interface EndlessTableProps<Row> {
  table: DataTableModel<Row>;
  list: EndlessList;
  /** Shown in place of the table when there are no rows. */
  empty: ReactNode;
  expectedRows: number;
  isFull?: boolean;
}

/** A table that loads its next page when the last row comes near. An error is shown in place of the missing rows. */
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

/** A part of TanStack Query's infinite query. */
export interface EndlessList extends Pages {
  data: unknown;
  error: Error | null;
  refetch(): unknown;
}

/** The part of TanStack Query's infinite query that loads further pages. */
interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  fetchNextPage(): unknown;
}

/** Loads the next page when the end of a table comes near. After a page that failed it waits until the user tries again. */
export function useLoadMore({
  hasNextPage,
  isFetchingNextPage,
  isFetchNextPageError,
  fetchNextPage,
}: Pages): () => void {
  return useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
}

/** Up to this number, all rows are in the page, so that the browser's own search finds them. */
const maxWhole = 100;
const rowHeightPx = 40;
/** How many rows are drawn beyond those in sight, before and after the user has begun to scroll. */
const rowsBeyond = { atFirst: 4, later: 12 };
const rowsBeforeEnd = 40;

type Rows = Virtualizer<HTMLDivElement, HTMLTableRowElement>;

/** Measures the first rows after they are laid out, as the table can be drawn without their heights; others at once. */
function measureRow(row: Element, entry: unknown, { scrollOffset, options }: Rows): number {
  const isFirst = entry === undefined && !scrollOffset;
  return isFirst ? options.estimateSize(0) : heightOf(row);
}

/** A row's height, including its group's name above it. */
export function heightOf(row: Element): number {
  const before = row.previousElementSibling;
  const isName = before?.firstElementChild?.getAttribute("scope") === "rowgroup";
  const { bottom } = row.getBoundingClientRect();
  return bottom - (isName ? before : row).getBoundingClientRect().top;
}

/** Which rows are rendered: all of a short table and on paper, those in sight of a long one. */
function useVirtualRows<Row>(
  { scroller, sortedRows, onPaper = sortedRows.length }: DataTableModel<Row>,
  onNearEnd: (() => void) | undefined,
): RenderedRows {
  const isPrinting = usePrinting();
  const isOn = !isPrinting && (sortedRows.length > maxWhole || onNearEnd !== undefined);
  const virtualizer: Rows = useVirtualizer({
    count: sortedRows.length,
    enabled: isOn,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeightPx,
    getItemKey: (index) => sortedRows[index]?.id ?? index,
    rangeExtractor: (range) =>
      defaultRangeExtractor({
        ...range,
        overscan: virtualizer.scrollOffset ? rowsBeyond.later : rowsBeyond.atFirst,
      }),
    measureElement: measureRow,
  });
  const shown = virtualizer.getVirtualItems();
  const last = shown.at(-1);
  const isNearEnd = isOn && last !== undefined && last.index >= sortedRows.length - rowsBeforeEnd;
  useEffect(() => {
    if (isNearEnd) onNearEnd?.();
  }, [isNearEnd, onNearEnd]);

  if (!isOn) return allRows(isPrinting ? Math.min(onPaper, sortedRows.length) : sortedRows.length);
  return {
    isVirtual: true,
    indexes: shown.map(({ index }) => index),
    beforePx: shown.at(0)?.start ?? 0,
    afterPx: virtualizer.getTotalSize() - (last?.end ?? 0),
    measure: virtualizer.measureElement,
    scrollTo(index) {
      if (index > 0 || virtualizer.scrollOffset) virtualizer.scrollToIndex(index);
    },
  };
}
