import type { Run, RunSample } from "@presage/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListChecks, SearchX } from "lucide-react";
import { Suspense, useMemo } from "react";
import { usePresage } from "../../../data/client.ts";
import { runSamplePagesQuery } from "../../../data/runs.ts";
import { formatCount } from "../../../format/numbers.ts";
import { nameEvaluators } from "../../../parts/evaluator-names.ts";
import { present } from "../../../search-params.ts";
import { buttonClass } from "../../../ui/button.tsx";
import { EndlessTable } from "../../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../../ui/data-table/table-model.ts";
import { TableTools } from "../../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../../ui/data-table/table-view.ts";
import { lazyPart } from "../../../ui/load.ts";
import { EmptyState } from "../../../ui/notice.tsx";
import { matrixColumns, nameOfRow } from "./matrix-columns.tsx";
import { MatrixFilters } from "./matrix-filters.tsx";
import { toMatrixRequest, useMatrixSearch } from "./matrix-request.ts";

/** Not part of what the run's page starts with. */
const SampleDrawer = lazyPart(async () => (await import("./sample-drawer.tsx")).SampleDrawer);

/** A run's samples. Experiments have only results. */
export function SamplesTab({ run }: { run: Run }) {
  if (run.dataset_id === null) {
    return (
      <EmptyState
        icon={ListChecks}
        title="This run has results but no predictions"
        actions={
          <Link to="/evaluations" search={{ run: run.id, view: "samples" }} className={buttonClass({})}>
            Its results by sample
          </Link>
        }
      >
        A client made the predictions, and sent only the verdicts.
      </EmptyState>
    );
  }
  return (
    <div className="flex h-[max(28rem,calc(100dvh-11rem))] flex-col gap-3 pt-4 print:block print:h-auto">
      <SampleMatrix run={run} />
    </div>
  );
}

/** One row per sample and repeat, one column per evaluator. Takes the height of its parent, a flex column. */
function SampleMatrix({ run }: { run: Run }) {
  const presage = usePresage();
  const matrix = useMatrixSearch();
  const { search, change } = matrix;
  const names = useMemo(() => nameEvaluators(run.evaluators), [run.evaluators]);
  const columns = useMemo(() => matrixColumns(run.evaluators, names), [run.evaluators, names]);
  const view = useTableView("run-samples", columns, { isInAddress: true });
  const list = useInfiniteQuery(
    runSamplePagesQuery(presage, run, toMatrixRequest(search, view.sort, run.evaluators)),
  );
  const rows = list.data;
  const openId = search.sample === undefined ? undefined : idOf(search.sample, search.repeat ?? 0);
  const index = rows?.findIndex((row) => idOf(row.dataset_sample_id, row.repeat) === openId) ?? -1;
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
        present({ ...current, sample, repeat: repeat === 0 ? undefined : repeat }),
    }),
    hasDrawer: true,
    openId,
    spare: ["latency", "tokens", "verb"],
    sorting: "server",
    isMain: true,
  });
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <MatrixFilters view={matrix} names={names} />
        <span className="flex items-center gap-2 text-xs text-ink-3 tabular-nums">
          {countOf(rows, list.hasNextPage, run)}
          <TableTools table={table} hasMore={list.hasNextPage} />
        </span>
      </div>
      <section
        aria-label="Samples"
        className="flex min-h-80 min-w-0 flex-1 flex-col overflow-hidden rounded-lg border border-line bg-surface"
      >
        <EndlessTable table={table} list={list} isFull expectedRows={16} empty={<NoSamples run={run} />} />
      </section>
      <Suspense>
        <SampleDrawer
          run={run}
          names={names}
          sampleId={search.sample}
          repeat={search.repeat ?? 0}
          previous={rows?.[index - 1]}
          next={index < 0 ? undefined : rows?.[index + 1]}
          onOpen={({ dataset_sample_id: sample, repeat }) =>
            change({ sample, repeat: repeat === 0 ? undefined : repeat })
          }
          onClose={() => change({ sample: undefined, repeat: undefined })}
          onCloseAutoFocus={table.takeFocusBack}
          onRepeat={(repeat) => change({ repeat: repeat === 0 ? undefined : repeat })}
        />
      </Suspense>
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
