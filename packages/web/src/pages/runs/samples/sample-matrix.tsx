import type { Run, RunSample } from "@presage/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { ListChecks, SearchX } from "lucide-react";
import { useMemo } from "react";
import { runSamplePagesQuery } from "../../../data/runs/run-samples.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { formatCount } from "../../../format/format-number.ts";
import { DataTable } from "../../../ui/data-table/data-table.tsx";
import { TableTools } from "../../../ui/data-table/table-tools.tsx";
import { useDataTable } from "../../../ui/data-table/use-data-table.ts";
import { useLoadMore } from "../../../ui/data-table/use-load-more.ts";
import { useTableView } from "../../../ui/data-table/use-table-view.ts";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { nameEvaluators } from "../name-evaluators.ts";
import { matrixColumns, nameOfRow } from "./matrix-columns.tsx";
import { MatrixFilters } from "./matrix-filters.tsx";
import { toMatrixRequest } from "./matrix-request.ts";
import { SampleDrawer } from "./sample-drawer.tsx";
import { useMatrixSearch, withChanges } from "./use-matrix-search.ts";

/** One row a sample and repeat, one column an evaluator. It takes the height of its parent, a flex column. */
export function SampleMatrix({ run }: { run: Run }) {
  const presage = usePresage();
  const matrix = useMatrixSearch();
  const { search, change } = matrix;
  const names = useMemo(() => nameEvaluators(run.evaluators), [run.evaluators]);
  const columns = useMemo(() => matrixColumns(run.evaluators, names), [run.evaluators, names]);
  const view = useTableView("run-samples", columns, { isInAddress: true });
  const list = useInfiniteQuery(
    runSamplePagesQuery(presage, run.id, toMatrixRequest(search, view.sort, run.evaluators)),
  );
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data), [list.data]);
  const { fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError } = list;
  const loadMore = useLoadMore(list);
  const openId = search.sample === undefined ? undefined : idOf(search.sample, search.repeat ?? 0);
  const table = useDataTable({
    label: "Samples",
    view,
    columns,
    rows,
    rowId: ({ dataset_sample_id, repeat }) => idOf(dataset_sample_id, repeat),
    rowName: nameOfRow,
    link: ({ dataset_sample_id: sample, repeat }) => ({
      to: ".",
      search: (current: Record<string, unknown>) =>
        withChanges(current, { sample, repeat: repeat === 0 ? undefined : repeat }),
    }),
    hasDrawer: true,
    openId,
    sorting: "server",
    isMain: true,
  });
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <MatrixFilters view={matrix} names={names} />
        <span className="flex items-center gap-2 text-xs text-ink-3 tabular-nums">
          {countOf(rows, hasNextPage, run)}
          <TableTools table={table} />
        </span>
      </div>
      <section
        aria-label="Samples"
        className="flex min-h-80 min-w-0 flex-1 flex-col overflow-hidden rounded-lg border border-line bg-surface"
      >
        {list.error !== null && rows === undefined ? (
          <div className="p-4">
            <ErrorNotice error={list.error} onRetry={list.refetch} />
          </div>
        ) : (
          <DataTable
            table={table}
            isFull
            expectedRows={16}
            onNearEnd={hasNextPage ? loadMore : undefined}
            empty={<NoSamples run={run} />}
            end={
              <div className="sticky left-0 px-4 py-2 text-xs text-ink-3 empty:hidden">
                {isFetchNextPageError && <ErrorNotice error={list.error} onRetry={fetchNextPage} />}
                {isFetchingNextPage && "Loading more…"}
              </div>
            }
          />
        )}
      </section>
      <SampleDrawer
        run={run}
        names={names}
        sampleId={search.sample}
        repeat={search.repeat ?? 0}
        onClose={() => change({ sample: undefined, repeat: undefined })}
        onCloseAutoFocus={table.takeFocusBack}
        onRepeat={(repeat) => change({ repeat: repeat === 0 ? undefined : repeat }, { replace: true })}
      />
    </>
  );
}

function idOf(sampleId: string, repeat: number): string {
  return `${repeat} ${sampleId}`;
}

function countOf(rows: readonly RunSample[] | undefined, hasMore: boolean, { progress }: Run): string {
  if (rows === undefined) return "";
  const shown = formatCount(rows.length);
  return `${shown}${hasMore ? " loaded" : ""} of ${formatCount(progress.samples)} predictions`;
}

function NoSamples({ run: { progress, status } }: { run: Run }) {
  if (progress.predicted === 0) {
    return (
      <EmptyState icon={ListChecks} title="No predictions yet">
        {status === "running" || status === "queued"
          ? "They appear here as soon as the run has made some. Reload to see them."
          : "The run made none."}
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={SearchX} title="No samples match these filters">
      Remove a filter above.
    </EmptyState>
  );
}
