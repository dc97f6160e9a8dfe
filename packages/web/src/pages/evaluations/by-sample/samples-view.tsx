import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { ListChecks } from "lucide-react";
import { useCallback, useMemo } from "react";
import { resultPagesQuery, resultRatesQuery } from "../../../data/evaluation/evaluation-results.ts";
import { findQueryError } from "../../../data/query-errors.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { counted } from "../../../format/counted.ts";
import { DataTable } from "../../../ui/data-table/data-table.tsx";
import { TableTools } from "../../../ui/data-table/table-tools.tsx";
import { useDataTable } from "../../../ui/data-table/use-data-table.ts";
import { useTableView } from "../../../ui/data-table/use-table-view.ts";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { Drawer } from "../../../ui/overlay/drawer.tsx";
import { ResultDetails } from "../drawer/result-details.tsx";
import { toResultFilter } from "../explorer-filter.ts";
import { changeSearch } from "../explorer-search.ts";
import { SummaryLine } from "../summary-line.tsx";
import type { Explorer } from "../use-explorer.ts";
import { groupBySample } from "./group-by-sample.ts";
import { judgesOf, sampleColumns } from "./sample-columns.tsx";
import { SampleVerdicts } from "./sample-verdicts.tsx";

/** The same results, one row a sample and one column an evaluator. */
export function SamplesView({ explorer }: { explorer: Explorer }) {
  const presage = usePresage();
  const { search, change } = explorer;
  const filter = toResultFilter(search);
  const rates = useQuery(resultRatesQuery(presage, filter));
  const list = useInfiniteQuery(resultPagesQuery(presage, filter, "dataset_sample_id"));
  const judges = useMemo(() => judgesOf(rates.data ?? []), [rates.data]);
  const columns = useMemo(() => sampleColumns(judges), [judges]);
  const rows = useMemo(() => {
    // Without the columns there is nothing to show yet.
    return rates.data && list.data && groupBySample(list.data.pages.flat());
  }, [rates.data, list.data]);
  const view = useTableView("evaluations-by-sample", columns);
  const open = rows?.find(({ results }) => results.some(({ id }) => id === search.result));
  const { fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError } = list;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  const table = useDataTable({
    label: "Samples",
    view,
    columns,
    rows,
    rowId: ({ id }) => id,
    rowName: ({ sampleId }) => `Sample ${sampleId}`,
    link: ({ id }) => ({ to: "/evaluations", search: changeSearch(search, { result: id }) }),
    hasDrawer: true,
    openId: open?.id,
    sorting: "server",
    isMain: true,
  });
  const failure = findQueryError([rates, list]);
  const index = open === undefined || rows === undefined ? -1 : rows.indexOf(open);
  const neighbour = (by: 1 | -1) => (index === -1 ? undefined : rows?.[index + by]?.id);
  return (
    <>
      <div className="flex flex-wrap items-start justify-between gap-x-4 border-b border-line py-1.5 pr-2 pl-4">
        <SummaryLine explorer={explorer} />
        <TableTools table={table} />
      </div>
      {failure !== undefined && (
        <div className="p-4">
          <ErrorNotice error={failure.error} onRetry={failure.retry} />
        </div>
      )}
      {(failure === undefined || rows !== undefined) && (
        <DataTable
          table={table}
          isFull
          expectedRows={20}
          onNearEnd={hasNextPage ? loadMore : undefined}
          empty={
            <EmptyState icon={ListChecks} title="No results that name a sample">
              Results have a row here if they were sent with dataset_sample_id, as those of runs are.
            </EmptyState>
          }
          end={
            rows !== undefined && (
              <div className="sticky left-0 px-4 py-3 text-xs text-ink-3">
                {isFetchingNextPage ? "Loading more…" : !hasNextPage && `${counted(rows.length, "sample")}.`}
              </div>
            )
          }
        />
      )}
      <Drawer
        isOpen={search.result !== undefined}
        onClose={() => change({ result: undefined })}
        title={`Result ${search.result}`}
        onCloseAutoFocus={table.takeFocusBack}
      >
        {search.result !== undefined && (
          <ResultDetails
            id={search.result}
            row={open?.results.find(({ id }) => id === search.result)}
            previousId={neighbour(-1)}
            nextId={neighbour(1)}
            explorer={explorer}
            above={
              open && <SampleVerdicts row={open} openId={search.result} judges={judges} explorer={explorer} />
            }
            // Moving between results adds no entries to the browser's history.
            onOpen={(result) => change({ result }, { replace: true })}
            onClose={() => change({ result: undefined })}
          />
        )}
      </Drawer>
    </>
  );
}
