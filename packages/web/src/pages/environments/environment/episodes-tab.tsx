import type { Environment, EpisodeFilter } from "@presage/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Database, Route, SearchX, X } from "lucide-react";
import { useState } from "react";
import { usePresage } from "../../../data/client.ts";
import { episodePagesQuery } from "../../../data/episodes.ts";
import { counted } from "../../../format/numbers.ts";
import { taskNameOf } from "../../../format/words.ts";
import { AllowedButton } from "../../../parts/allowed.tsx";
import { inPlace } from "../../../search-params.ts";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { EndlessTable } from "../../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../../ui/data-table/table-model.ts";
import { TableTools } from "../../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../../ui/data-table/table-view.ts";
import { Choice } from "../../../ui/form/select.tsx";
import { EmptyState } from "../../../ui/notice.tsx";
import { taskCount } from "../list/environment-columns.tsx";
import {
  type EnvironmentSearch,
  outcomes,
  readEnvironmentSearch,
  splits,
  statuses,
} from "./environment-search.ts";
import { episodeColumns } from "./episode-columns.tsx";
import { MakeDatasetDialog } from "./make-dataset-dialog.tsx";

const route = getRouteApi("/environments/$name");

type FilterName = "status" | "outcome" | "revision" | "split" | "index";
type ChangedFilters = Partial<Record<FilterName, string | number | undefined>>;

/** The episodes of an environment, newest first. */
export function EpisodesTab({ environment }: { environment: Environment }) {
  const search = route.useSearch();
  const { status, outcome, revision, split, index } = search;
  const navigate = route.useNavigate();
  const [isDatasetOpen, setDatasetOpen] = useState(false);
  const { name } = environment;
  const filter: EpisodeFilter = { environment: name, status, outcome, revision, split, index };
  const list = useInfiniteQuery(episodePagesQuery(usePresage(), filter));
  const rows = list.data;
  const view = useTableView("episodes", episodeColumns, { isInAddress: true });
  // A column that says the same of all episodes says nothing.
  const empty = [
    environment.revision === 1 && "revision",
    !rows?.some(({ failed_steps }) => failed_steps > 0) && "failed",
    !rows?.some(({ policy }) => policy !== null) && "policy",
  ];
  const table = useDataTable({
    label: "Episodes",
    view: { ...view, columnIds: view.columnIds.filter((id) => !empty.includes(id)) },
    columns: episodeColumns,
    rows,
    rowId: ({ id }) => id,
    rowName: (episode) => `Episode of ${taskNameOf(episode)}, ${episode.outcome ?? episode.status}`,
    link: ({ id }) => ({ to: "/episodes/$episodeId", params: { episodeId: id } }),
    // Always newest first.
    sorting: "server",
    spare: ["revision", "failed", "started"],
    isMain: true,
  });
  const isFiltered = [status, outcome, revision, split, index].some((one) => one !== undefined);
  const isEmpty = !isFiltered && rows?.length === 0;
  const filterBy = (part: ChangedFilters) =>
    navigate({ search: (current) => readEnvironmentSearch({ ...current, ...part }), ...inPlace });
  const clear = () =>
    filterBy({
      status: undefined,
      outcome: undefined,
      revision: undefined,
      split: undefined,
      index: undefined,
    });
  return (
    <>
      {!isEmpty && (
        <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
          <EpisodeFilters
            environment={environment}
            search={search}
            isFiltered={isFiltered}
            onChange={filterBy}
            onClear={clear}
          />
          <span className="text-xs text-ink-3 tabular-nums max-sm:hidden">
            {rows === undefined
              ? " "
              : `${counted(rows.length, "episode")}${list.hasNextPage ? " and more" : ""}`}
          </span>
          <AllowedButton
            needs="evaluate"
            size="small"
            icon={<Database aria-hidden />}
            disabled={rows === undefined || rows.length === 0}
            onClick={() => setDatasetOpen(true)}
          >
            Make a dataset
          </AllowedButton>
          <TableTools table={table} hasMore={list.hasNextPage} />
        </div>
      )}
      <EndlessTable
        table={table}
        list={list}
        expectedRows={8}
        empty={
          isFiltered ? (
            <EmptyState
              icon={SearchX}
              title="No episode matches"
              actions={<Button onClick={clear}>Show all</Button>}
            />
          ) : (
            <EmptyState
              icon={Route}
              title="No episodes yet"
              actions={
                taskCount(environment) === 0 ? (
                  <Link from={route.id} search={{ tab: "tasks" }} className={buttonClass({})}>
                    Add tasks first
                  </Link>
                ) : (
                  <Link to="/environments/$name/play" params={{ name }} className={buttonClass({})}>
                    Play one yourself
                  </Link>
                )
              }
            >
              An agent starts one with <code className="font-mono">POST /v1/episodes</code>; playing one
              yourself shows how good the world is.
            </EmptyState>
          )
        }
      />
      <MakeDatasetDialog
        isOpen={isDatasetOpen}
        onClose={() => setDatasetOpen(false)}
        selection={{ environment: name, status, outcome, revision, split, index }}
        isFiltered={isFiltered}
      />
    </>
  );
}

interface EpisodeFiltersProps {
  environment: Environment;
  search: EnvironmentSearch;
  isFiltered: boolean;
  onChange(part: ChangedFilters): void;
  onClear(): void;
}

/** Filters of the list of episodes. */
function EpisodeFilters({ environment, search, isFiltered, onChange, onClear }: EpisodeFiltersProps) {
  const { status, outcome, revision, split, index } = search;
  return (
    <search
      aria-label="Filters"
      className="flex flex-1 basis-full flex-wrap items-center gap-2 sm:basis-auto"
    >
      <Choice
        label="Status"
        any="Any status"
        value={status}
        options={statuses.map((value) => ({ value, label: value }))}
        onChange={(value) => onChange({ status: value })}
      />
      <Choice
        label="Outcome"
        any="Any outcome"
        value={outcome}
        options={outcomes.map((value) => ({ value, label: value === "none" ? "cut short" : value }))}
        onChange={(value) => onChange({ outcome: value })}
      />
      <Choice
        label="Split"
        any="Any split"
        value={split}
        options={splits
          .filter((one) => (environment.tasks[one] ?? 0) > 0)
          .map((value) => ({ value, label: value }))}
        onChange={(value) => onChange({ split: value, index: undefined })}
      />
      {environment.revision > 1 && (
        <Choice
          label="Revision"
          any="Any revision"
          value={revision === undefined ? undefined : String(revision)}
          options={Array.from({ length: environment.revision }, (_, at) => {
            const value = String(environment.revision - at);
            return { value, label: `Revision ${value}` };
          })}
          onChange={(value) => onChange({ revision: value === undefined ? undefined : Number(value) })}
        />
      )}
      {index !== undefined && (
        <Button
          size="small"
          aria-label={`Task ${index}: show all tasks`}
          onClick={() => onChange({ index: undefined })}
        >
          Task {index}
          <X aria-hidden />
        </Button>
      )}
      {isFiltered && (
        <Button size="small" variant="quiet" onClick={onClear}>
          Clear
        </Button>
      )}
    </search>
  );
}
