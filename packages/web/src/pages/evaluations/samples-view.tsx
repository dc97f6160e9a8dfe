import { type UseInfiniteQueryResult, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ListChecks } from "lucide-react";
import { useMemo, useState } from "react";
import { findQueryError, usePresage } from "../../data/client.ts";
import {
  evaluatorCountsQuery,
  resultCountQuery,
  resultPagesQuery,
  samplePagesQuery,
} from "../../data/results.ts";
import { counted } from "../../format/numbers.ts";
import type { ResultsSearch } from "../../parts/results/results-search.ts";
import { changeSearch } from "../../parts/results/results-search.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable, useLoadMore } from "../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../ui/data-table/table-model.ts";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import type { Sort } from "../../ui/data-table/table-view.ts";
import { useTableView } from "../../ui/data-table/table-view.ts";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { VerdictMark } from "../../ui/verdict.tsx";
import { NoRows, OpenResult } from "./result-list.tsx";
import { toResultFilter } from "./results-filter.ts";
import {
  groupBySample,
  type Judge,
  judgeColumnId,
  judgesOf,
  nameOf,
  readSampleSort,
  resultsOf,
  type SampleRow,
  sampleColumns,
  sortOf,
  withEvaluators,
  writeSampleSort,
} from "./sample-columns.tsx";
import { ResultsBar, type ResultsViewProps } from "./summary-line.tsx";

const noOrder = { evaluator: "", profile: null, isDescending: false };

/** The results as a table with one row per sample and one column per evaluator. */
export function SamplesView({ filtering, children }: ResultsViewProps) {
  const { search, change } = filtering;
  const { order, judges, rows, list, isCut, failure } = useSamples(search);
  const sorted = useSortedColumns(sortOf(order, judges));
  const isGrouped = order === undefined && rows !== undefined && areRepeated(rows);
  const hasRuns = !isGrouped && search.run === undefined;
  const columns = useMemo(
    () => sampleColumns(judges, sorted, isGrouped).filter(({ id }) => id !== "run" || hasRuns),
    [judges, sorted, isGrouped, hasRuns],
  );
  const remembered = useTableView("evaluations-by-sample", columns);
  const index = rows?.findIndex(({ results }) => results.some(({ id }) => id === search.result)) ?? -1;
  const open = rows?.[index];
  const loadMore = useLoadMore(list);
  const count = useQuery(resultCountQuery(usePresage(), toResultFilter(search)));
  const table = useDataTable({
    label: "Samples",
    view: {
      ...remembered,
      columnIds: withEvaluators(remembered.columnIds, columns, judges),
      sort: sortOf(order, judges),
      changeSort: (sort) => change({ sort: writeSampleSort(sort, judges) }, { replace: true }),
    },
    columns,
    rows,
    ...(isGrouped && { groupOf: sampleOf }),
    rowId: ({ id }) => id,
    rowName: ({ sampleId }) => `Sample ${sampleId}`,
    link: ({ id }) => ({ to: "/evaluations", search: changeSearch(search, { view: "samples", result: id }) }),
    hasDrawer: true,
    openId: open?.id,
    sorting: "server",
    // Columns of dashes go before what the outputs are judged by.
    spare: [...judges.filter((judge) => isMostlyEmpty(judge, rows)).map(judgeColumnId), "run", "gold"],
    isMain: true,
  });
  return (
    <>
      <ResultsBar search={search}>
        {children}
        <TableTools table={table} hasMore={list.hasNextPage} />
      </ResultsBar>
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
          onNearEnd={list.hasNextPage ? loadMore : undefined}
          empty={
            count.data?.count === 0 ? (
              <NoRows filtering={filtering} />
            ) : (
              <EmptyState
                icon={ListChecks}
                title="No verdicts of samples"
                actions={<Button onClick={() => change({ view: "verdicts" })}>One row a verdict</Button>}
              >
                Runs have a row for each prediction, and so has what is evaluated with a{" "}
                <code className="font-mono text-xs">dataset_sample_id</code>.
              </EmptyState>
            )
          }
          end={
            rows !== undefined && (
              <div className="sticky left-0 px-4 py-3 text-xs text-ink-3">
                {describeEnd(list, rows.length)}
                {isCut && cutNote}
              </div>
            )
          }
        />
      )}
      <OpenResult
        filtering={filtering}
        row={open?.results.find(({ id }) => id === search.result)}
        previous={rows?.[index - 1]?.id}
        next={open && rows?.[index + 1]?.id}
        above={open && <SampleVerdicts row={open} judges={judges} search={search} />}
        onCloseAutoFocus={table.takeFocusBack}
      />
    </>
  );
}

function isMostlyEmpty(judge: Judge, rows: readonly SampleRow[] = []): boolean {
  return rows.filter((row) => resultsOf(row, judge).length > 0).length < rows.length / 2;
}

const sampleOf = ({ sampleId }: SampleRow) => sampleId;

/** Whether runs share samples, whose rows are then grouped. False if samples of several datasets have the same id. */
function areRepeated(rows: readonly SampleRow[]): boolean {
  const ids = new Set(rows.map(sampleOf)).size;
  return ids < rows.length && ids === new Set(rows.map((row) => `${row.sampleId} ${row.datasetId}`)).size;
}

const cutNote = " These samples have more results than are shown here. A filter leaves some of them out.";

function describeEnd(
  { isFetchingNextPage, hasNextPage }: Pick<UseInfiniteQueryResult, "isFetchingNextPage" | "hasNextPage">,
  count: number,
): string {
  if (isFetchingNextPage) return "Loading more…";
  return hasNextPage ? "" : `${counted(count, "sample")}.`;
}

/** The matching results by sample, ordered by sample or by one evaluator's scores. */
function useSamples(search: ResultsSearch) {
  const presage = usePresage();
  const filter = toResultFilter(search);
  const order = readSampleSort(search.sort);
  const counts = useQuery(evaluatorCountsQuery(presage, filter));
  const judges = useMemo(() => judgesOf(counts.data ?? []), [counts.data]);
  // The counts tell whether any of the evaluator's results match; until they are loaded, the order in the address applies.
  const isByScore = order !== undefined && (!counts.data || sortOf(order, judges) !== undefined);
  const bySample = useInfiniteQuery({
    ...resultPagesQuery(presage, filter, "dataset_sample_id"),
    enabled: !isByScore,
  });
  const byScore = useInfiniteQuery({
    ...samplePagesQuery(presage, filter, order ?? noOrder),
    enabled: isByScore,
  });
  const list = isByScore ? byScore : bySample;
  const rows = useMemo(() => {
    // Rows cannot be shown before the columns are known.
    const pages = isByScore ? byScore.data?.pages.map(({ rows }) => rows) : bySample.data?.pages;
    return counts.data && pages && groupBySample(pages.flat());
  }, [counts.data, isByScore, bySample.data, byScore.data]);
  return {
    order,
    judges,
    rows,
    list,
    isCut: isByScore && byScore.data?.pages.some(({ isCut }) => isCut),
    failure: findQueryError([counts, list]),
  };
}

/** The columns that were sorted during this visit. They stay, as the focus may be on their header when the order is changed. */
function useSortedColumns(sort: Sort | undefined): ReadonlySet<string> {
  const [sorted, setSorted] = useState<ReadonlySet<string>>(new Set());
  if (sort === undefined || sorted.has(sort.id)) return sorted;
  const added = new Set([...sorted, sort.id]);
  setSorted(added);
  return added;
}

interface SampleVerdictsProps {
  row: SampleRow;
  judges: readonly Judge[];
  search: ResultsSearch;
}

/** All verdicts on the sample of the open result. */
function SampleVerdicts({ row, judges, search }: SampleVerdictsProps) {
  return (
    <nav aria-label="Verdicts on this sample" className="flex flex-wrap gap-2 border-b border-line px-4 py-2">
      {judges.flatMap((judge) =>
        resultsOf(row, judge).map(({ id, status, pass, score_raw, corrected }) => (
          <Link
            key={id}
            to="/evaluations"
            search={changeSearch(search, { view: "samples", result: id })}
            replace
            resetScroll={false}
            preload={false}
            aria-current={id === search.result ? "true" : undefined}
            className={clsx(
              "flex max-w-full items-center gap-2 rounded-md border px-2 py-1 text-sm",
              id === search.result ? "border-accent bg-accent-soft" : "border-line hover:bg-hover",
            )}
          >
            <span className="truncate text-ink-2">{nameOf(judge, judges)}</span>
            <VerdictMark
              status={status}
              pass={corrected?.pass ?? pass}
              score={corrected?.score ?? score_raw}
            />
          </Link>
        )),
      )}
    </nav>
  );
}
