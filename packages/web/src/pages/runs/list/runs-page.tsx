import type { ListedRun, Run } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link, useNavigate } from "@tanstack/react-router";
import { FlaskRound, GitCompareArrows, Plus } from "lucide-react";
import { useMemo } from "react";
import { useUserNames } from "../../../data/accounts.ts";
import { usePresage } from "../../../data/client.ts";
import { datasetNamesQuery } from "../../../data/datasets.ts";
import { runsQuery, useExternalHeadlines } from "../../../data/runs.ts";
import { counted, formatCount } from "../../../format/numbers.ts";
import { describeTarget, humanizeName } from "../../../format/words.ts";
import { ExampleNote, ExampleOffer } from "../../../parts/example.tsx";
import { NewRunLink } from "../../../parts/runs.tsx";
import { inPlace } from "../../../search-params.ts";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { DataTable } from "../../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../../ui/data-table/table-model.ts";
import { TableTools } from "../../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../../ui/data-table/table-view.ts";
import { SearchInput } from "../../../ui/form/inputs.tsx";
import { Choice } from "../../../ui/form/select.tsx";
import { EmptyState, ErrorNotice } from "../../../ui/notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { SavedViews } from "../../../ui/saved-views.tsx";
import { useShortcut } from "../../../ui/shortcuts.tsx";
import { modes, type RunsSearch, readRunsSearch, statuses } from "../runs-search.ts";
import { commonEvaluator, type RunRow, runColumns } from "./run-columns.tsx";

export const runsRoute = createLazyRoute("/runs")({ component: RunsPage });

const noRuns: ListedRun[] = [];

function RunsPage() {
  const presage = usePresage();
  const search = runsRoute.useSearch();
  const navigate = runsRoute.useNavigate();
  const { data: runs, error, refetch } = useQuery(runsQuery(presage));
  const { data: datasets = new Map<string, string>() } = useQuery(datasetNamesQuery(presage));
  const change = (part: Partial<Record<keyof RunsSearch, string | undefined>>) =>
    navigate({ search: (before) => readRunsSearch({ ...before, ...part }), ...inPlace });
  const { selected: _, ...savedSearch } = search;
  // Without runs there is nothing to filter or to compare.
  const hasNone = runs?.length === 0;
  return (
    <Page
      title="Runs"
      hint="A run predicts every step of a dataset and shows how far the model can be trusted."
      isFull
      actions={
        <>
          {!hasNone && <CompareLink selected={search.selected} />}
          <NewRunLink variant="primary" icon={<Plus aria-hidden />}>
            New run
          </NewRunLink>
        </>
      }
    >
      {!hasNone && (
        <div className="flex flex-wrap items-center gap-2">
          <RunsFilters runs={runs ?? noRuns} datasets={datasets} search={search} onChange={change} />
          <span className="phone:hidden">
            <SavedViews name="runs" search={{ ...savedSearch }} />
          </span>
        </div>
      )}
      {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
      {(error === null || runs !== undefined) && (
        <RunsTable
          runs={runs}
          datasets={datasets}
          search={search}
          onSelect={(selected) => change({ selected })}
        />
      )}
      <ExampleNote
        onRemoved={(removed) => {
          const left = selectedIds(search.selected).filter((id) => !removed.includes(id));
          void change({ selected: left.join(",") || undefined });
        }}
      />
    </Page>
  );
}

function CompareLink({ selected }: { selected: string | undefined }) {
  const ids = selectedIds(selected);
  const navigate = useNavigate();
  const search = { runs: ids.join(",") };
  useShortcut({
    keys: "c",
    label: "Compare the chosen runs",
    group: "Runs",
    run: () => void (ids.length >= 2 && navigate({ to: "/compare", search })),
  });
  if (ids.length === 0) return null;
  if (ids.length === 1)
    return (
      <span className="text-sm text-ink-3" role="status">
        Choose another run to compare
      </span>
    );
  return (
    <Link to="/compare" search={search} title="Compare (C)" className={buttonClass({})}>
      <GitCompareArrows aria-hidden /> Compare {ids.length} runs
    </Link>
  );
}

const maxCompared = 5;

function selectedIds(selected: string | undefined): string[] {
  return selected?.split(",").slice(0, maxCompared) ?? [];
}

interface RunsFiltersProps {
  runs: readonly Run[];
  datasets: ReadonlyMap<string, string>;
  search: RunsSearch;
  onChange(part: Partial<Record<keyof RunsSearch, string | undefined>>): void;
}

/** The filters; each value has the number of runs that it would leave. */
function RunsFilters({ runs, datasets, search, onChange }: RunsFiltersProps) {
  const count = (part: Partial<RunsSearch>) => findRuns(runs, { ...search, ...part }).length;
  const used = [...new Set(runs.flatMap(({ dataset_id }) => dataset_id ?? []))];
  const isFiltered = [search.q, search.status, search.mode, search.dataset].some((one) => one !== undefined);
  return (
    <search
      aria-label="Filters"
      className="flex flex-wrap items-center gap-2 phone:grid phone:w-full phone:grid-cols-3 phone:*:first:col-span-3 phone:*:w-full!"
    >
      <SearchInput
        label="Search runs"
        words={search.q ?? ""}
        onSearch={(q) => onChange({ q: q || undefined })}
      />
      <Choice
        label="Status"
        any="Any status"
        value={search.status}
        options={statuses.map((status) => ({
          value: status,
          label: humanizeName(status),
          count: count({ status }),
        }))}
        onChange={(status) => onChange({ status })}
      />
      <Choice
        label="Mode"
        any="Any mode"
        value={search.mode}
        options={modes.map((mode) => ({ value: mode, label: humanizeName(mode), count: count({ mode }) }))}
        onChange={(mode) => onChange({ mode })}
      />
      <Choice
        label="Dataset"
        any="Any dataset"
        value={search.dataset}
        options={used.map((dataset) => ({
          value: dataset,
          label: datasets.get(dataset) ?? dataset,
          count: count({ dataset }),
        }))}
        onChange={(dataset) => onChange({ dataset })}
      />
      {isFiltered && (
        <Button
          size="small"
          variant="quiet"
          onClick={() => onChange({ q: undefined, status: undefined, mode: undefined, dataset: undefined })}
        >
          Clear
        </Button>
      )}
    </search>
  );
}

/** The runs that match the filters. */
export function findRuns<One extends Run>(
  runs: readonly One[],
  { q = "", status, mode, dataset }: RunsSearch,
): One[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter((run) => {
    if (status !== undefined && run.status !== status) return false;
    if (mode !== undefined && run.mode !== mode) return false;
    if (dataset !== undefined && run.dataset_id !== dataset) return false;
    const tags = Object.entries(run.tags ?? {}).map((tag) => tag.join("="));
    const text = [run.name, run.id, describeTarget(run.target), ...tags].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

interface RunsTableProps {
  runs: readonly ListedRun[] | undefined;
  datasets: ReadonlyMap<string, string>;
  search: RunsSearch;
  onSelect(selected: string | undefined): void;
}

/** Only the newest external runs get figures, since these are loaded one at a time. */
const maxExternal = 10;

function RunsTable({ runs, datasets, search, onSelect }: RunsTableProps) {
  const found = useMemo(() => runs && findRuns(runs, search), [runs, search]);
  const external = useMemo(
    () => found?.filter(({ target }) => "external" in target).slice(0, maxExternal) ?? noRuns,
    [found],
  );
  const read = useExternalHeadlines(external);
  const nameOf = useUserNames();
  const rows = useMemo(() => {
    const headlineOf = (run: ListedRun): RunRow["headline"] => {
      const known = read[external.indexOf(run)];
      if (known === undefined) return "external" in run.target ? "unread" : run.headline;
      return known.data ?? (known.data === undefined && !known.isError ? "loading" : null);
    };
    return found?.map(
      (run): RunRow => ({
        run,
        dataset: run.dataset_id === null ? "–" : (datasets.get(run.dataset_id) ?? "deleted"),
        by: nameOf(run.created_by),
        headline: headlineOf(run),
      }),
    );
  }, [found, external, read, datasets, nameOf]);
  const evaluator = commonEvaluator(rows ?? []);
  const hasGoals = rows?.some(({ run }) => run.goal != null) ?? true;
  const columns = useMemo(() => runColumns(evaluator, hasGoals), [evaluator, hasGoals]);
  const view = useTableView("runs", columns, { isInAddress: true });
  const table = useDataTable({
    label: "Runs",
    view,
    columns,
    rows,
    rowId: ({ run }) => run.id,
    rowName: ({ run }) => run.name,
    groupOf: datasetOf,
    link: ({ run }) => ({ to: "/runs/$runId", params: { runId: run.id } }),
    selection: {
      ids: selectedIds(search.selected),
      onChange: (ids) => onSelect(ids.length === 0 ? undefined : ids.join(",")),
      max: maxCompared,
    },
    spare: ["samples", "by", "started", "goal", "cost"],
    isMain: true,
  });
  return (
    <section
      aria-label="Runs"
      className="flex min-h-80 flex-col overflow-hidden rounded-lg border border-line bg-surface"
    >
      <header className="flex min-h-10 items-center gap-2 border-b border-line px-4 py-1 text-xs text-ink-2">
        <p className="min-w-0 flex-1" role="status">
          {runs === undefined || found === undefined ? "Loading…" : describeCount(found.length, runs.length)}
        </p>
        <TableTools table={table} />
      </header>
      <DataTable table={table} isFull empty={<NoRuns hasRuns={(runs?.length ?? 0) > 0} />} />
    </section>
  );
}

function datasetOf({ dataset, run: { revision } }: RunRow): string {
  return revision === null ? dataset : `${dataset}, revision ${revision}`;
}

function describeCount(found: number, all: number): string {
  return `${found === all ? "" : `${formatCount(found)} of `}${counted(all, "run")}`;
}

function NoRuns({ hasRuns }: { hasRuns: boolean }) {
  if (hasRuns) {
    return (
      <EmptyState icon={FlaskRound} title="No run matches the filters">
        Remove one of them to see more.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={FlaskRound}
      title="No runs yet"
      actions={
        <>
          <NewRunLink>New run</NewRunLink>
          <ExampleOffer />
        </>
      }
    >
      A run predicts every step of a dataset and says how far the model can be trusted: with intervals, by
      step, and next to the no-change baseline.
    </EmptyState>
  );
}
