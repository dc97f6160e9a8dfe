import type { StoredPredictionFilter } from "@presage/sdk";
import { type UseQueryResult, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link } from "@tanstack/react-router";
import { Download, MessagesSquare, RefreshCw, SearchX, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { meQuery } from "../../data/accounts.ts";
import { usePresage } from "../../data/client.ts";
import {
  type LoggedPrediction,
  type StoredPredictionCount,
  storedPredictionCountQuery,
  storedPredictionsQuery,
  storedPredictionValuesQuery,
  useDeletePredictions,
  useRefreshPredictions,
} from "../../data/predictions.ts";
import { counted, formatCost, formatCount, formatDuration } from "../../format/numbers.ts";
import { describeCapture } from "../../format/words.ts";
import { AllowedIconButton } from "../../parts/allowed.tsx";
import { toPredictionFilter } from "../../parts/predictions.ts";
import { commandName } from "../../session.ts";
import { Button, buttonClass, IconButton } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code/code-block.tsx";
import { defaultColumnIds } from "../../ui/data-table/columns.ts";
import { type EndlessList, EndlessTable } from "../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../ui/data-table/table-model.ts";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../ui/data-table/table-view.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { MenuDownload } from "../../ui/menu.tsx";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import {
  changeLogSearch,
  JumpTo,
  LogFilters,
  noFilters,
  type PredictionLog,
  useLog,
} from "./log-filters.tsx";
import { predictionColumns } from "./prediction-columns.tsx";
import { PredictionDrawer } from "./prediction-drawer.tsx";

export const predictionsRoute = createLazyRoute("/predictions")({ component: PredictionsPage });

function PredictionsPage() {
  const presage = usePresage();
  const log = useLog();
  const refresh = useRefreshPredictions();
  const [isDeleting, setDeleting] = useState(false);
  // Kept, since a different time would mean a different list, without the pages loaded for this one.
  const [openedMs, setOpenedMs] = useState(Date.now);
  const filter = toPredictionFilter(log.search, openedMs);
  const list = useInfiniteQuery(storedPredictionsQuery(presage, filter, log.search.order ?? "newest"));
  const count = useQuery(storedPredictionCountQuery(presage, filter));
  const isEmpty = !log.isFiltered && list.data?.length === 0;
  return (
    <Page
      title="Predictions"
      {...(isEmpty
        ? { hint: "Stored requests and responses, from runs and from captured live traffic." }
        : { controls: <LogFilters log={log} filter={filter} /> })}
      isFull
    >
      <LogTable log={log} filter={filter} list={list} count={count}>
        <IconButton
          label="Refresh"
          icon={<RefreshCw aria-hidden />}
          onClick={() => {
            setOpenedMs(Date.now());
            refresh();
          }}
        />
        {!isEmpty && (
          <AllowedIconButton
            needs="manage"
            label="Delete"
            icon={<Trash2 aria-hidden />}
            onClick={() => setDeleting(true)}
          />
        )}
      </LogTable>
      {isDeleting && (
        <DeleteDialog onClose={() => setDeleting(false)} filter={filter} isFiltered={log.isFiltered} />
      )}
    </Page>
  );
}

interface LogTableProps {
  log: ReturnType<typeof useLog>;
  filter: StoredPredictionFilter;
  list: EndlessList & { data: LoggedPrediction[] | undefined };
  count: Pick<UseQueryResult<StoredPredictionCount>, "data" | "isError">;
  /** Actions on the list. */
  children: ReactNode;
}

function LogTable({ log, filter, list, count, children }: LogTableProps) {
  const { search, change, isFiltered } = log;
  const { data: rows } = list;
  const view = useTableView("predictions", predictionColumns, { isInAddress: true });
  const isLive =
    search.source === "live" || (rows !== undefined && rows.length > 0 && rows.every(isUnjudged));
  const table = useDataTable({
    label: "Predictions",
    view: isLive && !view.hasOwnColumns ? { ...view, columnIds: liveColumnIds } : view,
    columns: predictionColumns,
    rows,
    rowId: ({ id }) => id,
    rowName: ({ id }) => `Prediction ${id}`,
    link: ({ id }) => ({ to: "/predictions", search: changeLogSearch(search, { open: id }) }),
    hasDrawer: true,
    openId: search.open,
    sorting: "server",
    spare: ["tokens", "cost", "who", "expected"],
    isMain: true,
  });
  const index = rows?.findIndex(({ id }) => id === search.open) ?? -1;
  const open = (id: string | undefined) => change({ open: id }, { replace: search.open !== undefined });
  return (
    <section
      aria-label="Predictions"
      className="flex min-h-80 flex-col overflow-hidden rounded-lg border border-line bg-surface"
    >
      <header className="flex min-h-10 flex-wrap items-center gap-x-2 border-b border-line px-4 py-1.5 text-xs text-ink-2">
        <p className="whitespace-nowrap" role="status">
          {describeCount(count, isFiltered)}
          {search.order === "oldest" && ", the oldest first"}
        </p>
        <Summary filter={filter} />
        {isFiltered && (
          <Button size="small" variant="quiet" onClick={() => change(noFilters)}>
            Clear the filters
          </Button>
        )}
        <span className="flex-1" />
        <JumpTo log={log} />
        {children}
        <TableTools table={table} hasMore={list.hasNextPage}>
          <MenuDownload href={exportAddress(filter)} icon={<Download aria-hidden />}>
            Save all as OpenTelemetry spans
          </MenuDownload>
        </TableTools>
      </header>
      <EndlessTable table={table} list={list} isFull expectedRows={12} empty={<NoPredictions log={log} />} />
      <PredictionDrawer
        id={search.open}
        previous={index > 0 ? rows?.[index - 1]?.id : undefined}
        next={index >= 0 ? rows?.[index + 1]?.id : undefined}
        cost={costOf(rows?.[index])}
        log={log}
        onOpen={open}
        onCloseAutoFocus={table.takeFocusBack}
      />
    </section>
  );
}

/** Totals of the matching predictions, from the counts of the filters. */
function Summary({ filter }: Pick<LogTableProps, "filter">) {
  const { data } = useQuery(storedPredictionValuesQuery(usePresage(), filter));
  const failed = filter.status ? 0 : (data?.status.find(({ value }) => value === "failed")?.count ?? 0);
  const latency = data?.latency_ms;
  return (
    <p className="text-ink-3 tabular-nums">
      {failed > 0 && <span className="mr-2 text-fail">{formatCount(failed)} failed</span>}
      {latency && `Latency p50 ${formatDuration(latency.p50)}, p95 ${formatDuration(latency.p95)}`}
    </p>
  );
}

function exportAddress(filter: StoredPredictionFilter): string {
  const query = Object.entries({ ...filter, content: true }).map(([name, value]) => [name, String(value)]);
  return `/v1/predictions/export?${new URLSearchParams(query)}`;
}

/** Live predictions have nothing to be compared with; how long the caller waited matters more. */
const liveColumnIds = defaultColumnIds(predictionColumns)
  .filter((id) => id !== "expected" && id !== "verdicts")
  .concat("tokens", "latency");

function isUnjudged({ expected, verdicts = [] }: LoggedPrediction): boolean {
  return expected == null && verdicts.length === 0;
}

function costOf(row: LoggedPrediction | undefined): string | undefined {
  return row?.cost == null || row.currency === null ? undefined : formatCost(row.cost, row.currency);
}

function describeCount({ data, isError }: LogTableProps["count"], isFiltered: boolean): string {
  if (data === undefined) return isError ? "These predictions could not be counted." : "Counting…";
  const { count, has_more } = data;
  return `${has_more ? "More than " : ""}${counted(count, "prediction")}${isFiltered ? " match" : ""}`;
}

/** Explains why the log is empty, and how predictions get into it. */
function NoPredictions({ log: { isFiltered, change } }: { log: PredictionLog }) {
  const presage = usePresage();
  const { data: me } = useQuery(meQuery(presage));
  if (isFiltered) {
    return (
      <EmptyState
        icon={SearchX}
        title="No stored prediction matches these filters"
        actions={<Button onClick={() => change(noFilters)}>Clear the filters</Button>}
      >
        Remove a filter, or choose a longer period.
      </EmptyState>
    );
  }
  const isAll = me !== undefined && describeCapture(me.capture.setting) === "all";
  return (
    <EmptyState
      icon={MessagesSquare}
      title={isAll ? "No predictions yet" : "No predictions are stored"}
      actions={
        <Link to={isAll ? "/playground" : "/api-keys"} className={buttonClass({ variant: "primary" })}>
          {isAll ? "Open the playground" : "Store them for an API key"}
        </Link>
      }
    >
      {isAll ? (
        <p>This server stores all live traffic, and what runs predict.</p>
      ) : (
        <HowToStore setting={me?.capture.setting} />
      )}
    </EmptyState>
  );
}

function HowToStore({ setting }: { setting: string | undefined }) {
  return (
    <>
      <p>
        {setting === undefined
          ? "Prompts may contain anything, so live traffic is stored only on request."
          : `This server stores ${describeCapture(setting)} of live traffic.`}{" "}
        An API key’s setting overrides it. For the whole server, start it with
      </p>
      <div className="mx-auto mt-2 max-w-80 text-left">
        <CodeBlock code={`PRESAGE_CAPTURE=all ${commandName()} serve`} label="the command" />
      </div>
      <p className="mt-2">
        <code className="font-mono text-xs">failures</code> and shares such as{" "}
        <code className="font-mono text-xs">0.01</code> are possible too. Predictions of runs are always
        stored.
      </p>
    </>
  );
}

interface DeleteDialogProps {
  onClose(): void;
  filter: StoredPredictionFilter;
  isFiltered: boolean;
}

/** States how many predictions of live traffic match, and deletes them. */
function DeleteDialog({ onClose, filter, isFiltered }: DeleteDialogProps) {
  const presage = usePresage();
  const { source, run_id: runId, to, ...liveFilter } = filter;
  // Excludes predictions that arrive while the dialog is open, which were not counted, and those later than the list.
  const [openedMs] = useState(Date.now);
  const before = new Date(Math.min(openedMs, to === undefined ? openedMs : Date.parse(to))).toISOString();
  const isOfRuns = runId !== undefined || (source !== undefined && source !== "live");
  const { data, error, isPending, refetch } = useQuery({
    ...storedPredictionCountQuery(presage, { ...liveFilter, source: "live", to: before }),
    enabled: !isOfRuns,
  });
  const deletion = useDeletePredictions({ onSuccess: onClose });
  const canDelete = !isOfRuns && error === null && data?.count !== 0;
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title="Delete stored predictions"
      confirmLabel="Delete"
      isBusy={isPending}
      change={deletion}
      onConfirm={canDelete ? () => deletion.mutate({ before, filter: liveFilter }) : undefined}
    >
      {isOfRuns && <p>Predictions of runs and episodes are deleted with their run or episode.</p>}
      {data !== undefined && <p>{describeDeletable(data, isFiltered)}</p>}
      {!isOfRuns && isPending && <p>Counting…</p>}
      {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
    </ConfirmDialog>
  );
}

/** Describes what would be deleted, and what stays. */
function describeDeletable({ count, has_more }: StoredPredictionCount, isFiltered: boolean): string {
  if (count === 0)
    return `No prediction of live traffic ${isFiltered ? "matches the filters" : "is stored"}.`;
  const found = `${has_more ? "More than " : ""}${counted(count, "prediction")} of live traffic`;
  const match = count === 1 ? "matches" : "match";
  const which = isFiltered ? `${match} the filters` : "without a filter: all of the account";
  const they = count === 1 && !has_more ? "It is" : "They are";
  return `${found} ${which}. ${they} deleted, including their prompts. This cannot be undone. Predictions of runs stay.`;
}
