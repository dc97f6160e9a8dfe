import type { EvaluationResultDeletionCount, ResultFilter } from "@presage/sdk";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { createLazyRoute, useNavigate } from "@tanstack/react-router";
import { Braces, Download, RefreshCw, Table, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import { usePresage } from "../../data/client.ts";
import { deletableCountQuery, type ResultDeletion, useResultDeletion } from "../../data/result-deletions.ts";
import { type ResultRow, refreshResults, resultCountQuery, resultPagesQuery } from "../../data/results.ts";
import { counted, formatCount } from "../../format/numbers.ts";
import { shortEvaluatorNames } from "../../format/words.ts";
import { AllowedIconButton } from "../../parts/allowed.tsx";
import { changeSearch, type Filtering, type ResultsSearch } from "../../parts/results/results-search.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import { useDataTable } from "../../ui/data-table/table-model.ts";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { type TableView, useTableView } from "../../ui/data-table/table-view.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Segmented } from "../../ui/form/choices.tsx";
import { Menu, MenuDownload } from "../../ui/menu.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { resultColumns } from "./result-columns.tsx";
import { OpenResult, ResultList } from "./result-list.tsx";
import { activeFilters, exportAddress, toResultFilter, toResultOrder } from "./results-filter.ts";
import { SamplesView } from "./samples-view.tsx";
import { ResultsBar, type ResultsViewProps } from "./summary-line.tsx";

export const evaluationsRoute = createLazyRoute("/evaluations")({ component: EvaluationsPage });

const views = [
  { value: "samples", label: "By sample" },
  { value: "verdicts", label: "Verdicts" },
] as const;

function EvaluationsPage() {
  const queryClient = useQueryClient();
  const filtering = useFiltering();
  const { search, change } = filtering;
  const { view = "verdicts" } = search;
  const [isDeleting, setDeleting] = useState(false);
  const deletion = useResultDeletion({ onFinished: () => setDeleting(false) });
  // A cached count may be outdated, and would show the wrong page.
  const count = useQuery({
    ...resultCountQuery(usePresage(), toResultFilter(search)),
    refetchOnMount: "always",
  });
  const isEmpty = count.data?.count === 0 && activeFilters(search).length === 0;
  const View = view === "samples" ? SamplesView : VerdictsView;
  return (
    <Page
      title="Evaluations"
      isFull
      {...(isEmpty
        ? { hint: "What evaluators say of outputs." }
        : { controls: <FilterBar filtering={filtering} /> })}
      actions={
        !isEmpty && (
          <>
            <Segmented
              label="Rows"
              value={view}
              options={views}
              onChange={(view) => change({ view, result: undefined, columns: undefined, sort: undefined })}
            />
            <ExportMenu search={search} />
          </>
        )
      }
    >
      <section
        aria-label="Results"
        className="flex min-h-80 flex-col overflow-hidden rounded-lg border border-line bg-surface"
      >
        <View filtering={filtering}>
          <IconButton
            label="Refresh"
            icon={<RefreshCw aria-hidden />}
            onClick={() => refreshResults(queryClient)}
          />
          {/* The server does not support this filter for deletions. */}
          {!search.direct && !isEmpty && (
            <AllowedIconButton
              needs="manage"
              label="Delete"
              icon={<Trash2 aria-hidden />}
              onClick={() => setDeleting(true)}
            />
          )}
        </View>
      </section>
      <DeleteResultsDialog
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        deletion={deletion}
        filter={toResultFilter(search)}
        isFiltered={activeFilters(search).length > 0}
      />
    </Page>
  );
}

/** Downloads all matching results, not only the loaded ones. */
function ExportMenu({ search }: { search: ResultsSearch }) {
  return (
    <Menu trigger={<Button icon={<Download aria-hidden />}>Export</Button>}>
      <MenuDownload href={exportAddress(search, "jsonl")} icon={<Braces aria-hidden />}>
        JSON Lines
      </MenuDownload>
      <MenuDownload href={exportAddress(search, "csv")} icon={<Table aria-hidden />}>
        CSV
      </MenuDownload>
    </Menu>
  );
}

/** The results as a table with one row per verdict. */
function VerdictsView({ filtering, children }: ResultsViewProps) {
  const presage = usePresage();
  const { search } = filtering;
  const openId = search.result;
  const filter = toResultFilter(search);
  const list = useInfiniteQuery(resultPagesQuery(presage, filter, toResultOrder(search)));
  const rows = useMemo(() => list.data?.pages.flat(), [list.data]);
  const columns = useMemo(
    () => resultColumns(shortEvaluatorNames(rows?.map(({ evaluator_id }) => evaluator_id) ?? [])),
    [rows],
  );
  const view = useResultView(filtering, columns);
  const table = useDataTable({
    label: "Results",
    view,
    columns,
    rows,
    rowId: ({ id }) => id,
    rowName: ({ id }) => `Result ${id}`,
    link: ({ id }) => ({ to: "/evaluations", search: changeSearch(search, { result: id }) }),
    hasDrawer: true,
    openId,
    sorting: "server",
    spare: ["score", "gold", "sample", "run"],
    isMain: true,
  });
  const { row, previous, next } = useNeighbours(rows, openId);

  return (
    <>
      <ResultsBar search={search}>
        {children}
        <TableTools table={table} hasMore={list.hasNextPage} />
      </ResultsBar>
      <ResultList
        key={JSON.stringify([filter, search.order])}
        list={list}
        table={table}
        filtering={filtering}
      />
      <OpenResult
        filtering={filtering}
        row={row}
        previous={previous}
        next={next}
        onCloseAutoFocus={table.takeFocusBack}
      />
    </>
  );
}

/** The server sorts verdicts only by time, for which the address has its own parameter. */
function useResultView({ search, change }: Filtering, columns: readonly DataColumn<ResultRow>[]): TableView {
  return {
    ...useTableView("evaluations", columns, { isInAddress: true }),
    sort: { id: "when", isDescending: search.order !== "oldest" },
    changeSort: (sort) => change({ order: sort?.isDescending === false ? "oldest" : undefined }),
  };
}

const noRows: ResultRow[] = [];

interface Neighbours {
  row: ResultRow | undefined;
  previous: string | undefined;
  next: string | undefined;
}

function useNeighbours(rows: readonly ResultRow[] = noRows, id: string | undefined): Neighbours {
  const indexes = useMemo(() => new Map(rows.map((row, index) => [row.id, index])), [rows]);
  const index = id === undefined ? undefined : indexes.get(id);
  if (index === undefined) return { row: undefined, previous: undefined, next: undefined };
  return { row: rows[index], previous: rows[index - 1]?.id, next: rows[index + 1]?.id };
}

function useFiltering(): Filtering {
  const search = evaluationsRoute.useSearch();
  const navigate = useNavigate({ from: "/evaluations" });
  return {
    search,
    change(changes, { replace = false } = {}) {
      navigate({
        search: (current) => changeSearch(current, changes),
        replace,
        resetScroll: false,
      });
    },
  };
}

interface DeleteResultsDialogProps {
  isOpen: boolean;
  onClose(): void;
  /** Continues after the dialog is closed. */
  deletion: ResultDeletion;
  filter: ResultFilter;
  isFiltered: boolean;
}

/** States how many results match, deletes them in the background and shows the progress. */
function DeleteResultsDialog(props: DeleteResultsDialogProps) {
  return props.isOpen ? <OpenDialog {...props} /> : null;
}

function OpenDialog({ isOpen, onClose, deletion, filter, isFiltered }: DeleteResultsDialogProps) {
  const presage = usePresage();
  const { begun } = deletion;
  const deletable = useQuery({ ...deletableCountQuery(presage, filter), enabled: !deletion.isBusy });
  const count = deletable.data?.count;
  const isNothing = count === 0;
  const error = deletion.refusal ?? deletable.error ?? deletion.progressError;
  // A deletion is refused if the number of matching results has changed.
  const isCountedAgain = deletion.refusal !== null || deletable.isError;
  function confirm(): void {
    if (isCountedAgain) {
      deletion.reset();
      void deletable.refetch();
    } else if (count !== undefined) deletion.begin({ filter, expectedCount: count });
  }
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title="Delete evaluation results"
      confirmLabel={isCountedAgain ? "Count again" : "Delete"}
      cancelLabel={begun === undefined ? undefined : "Close"}
      isBusy={deletable.isFetching || deletion.isBusy}
      onConfirm={isNothing && !isCountedAgain ? undefined : confirm}
    >
      {begun !== undefined && (
        <p role="status">
          {formatCount(deletion.deleted)} of {counted(begun.count, "result")} deleted. Deletion continues if
          you close this.
        </p>
      )}
      {begun === undefined && !deletable.isError && (
        <p>{deletable.data === undefined ? "Counting…" : describeDeletable(deletable.data, isFiltered)}</p>
      )}
      {error !== null && (
        <div className="mt-3">
          <ErrorNotice error={error} />
        </div>
      )}
    </ConfirmDialog>
  );
}

/** Describes what would be deleted, and what stays because it belongs to something else. */
function describeDeletable({ count, kept }: EvaluationResultDeletionCount, isFiltered: boolean): string {
  const match = count === 1 ? "matches" : "match";
  const which = isFiltered ? `${match} the filters.` : "without a filter: all of the account.";
  const deleted =
    count === 0
      ? "No result can be deleted."
      : `${counted(count, "result")} ${which} With texts and corrections they are gone from every summary. This cannot be undone.`;
  if (kept === 0) return deleted;
  const belong = kept === 1 ? "belongs" : "belong";
  return `${deleted} ${formatCount(kept)} more ${belong} to runs or experiments and stay as long as these do.`;
}
