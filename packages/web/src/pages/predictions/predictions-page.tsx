import type { ListedPrediction } from "@presage/sdk";
import { type UseQueryResult, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import {
  storedPredictionCountQuery,
  storedPredictionsQuery,
  useRefreshPredictions,
} from "../../data/stored-predictions.ts";
import { usePresage } from "../../data/use-presage.ts";
import { formatCount } from "../../format/format-number.ts";
import { toPredictionFilter } from "../../parts/predictions.ts";
import { AllowedButton } from "../../session/allowed-button.tsx";
import { Button } from "../../ui/button.tsx";
import { type EndlessList, EndlessTable } from "../../ui/data-table/endless-table.tsx";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { useDataTable } from "../../ui/data-table/use-data-table.ts";
import { useTableView } from "../../ui/data-table/use-table-view.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { Page } from "../../ui/page.tsx";
import { useNarrow } from "../../ui/use-narrow.ts";
import { useNow } from "../../ui/use-now.ts";
import { DeletePredictionsDialog } from "./delete-predictions-dialog.tsx";
import { PredictionDrawer } from "./drawer/prediction-drawer.tsx";
import { LogFilters } from "./filters/log-filters.tsx";
import { NoPredictions } from "./no-predictions.tsx";
import { narrowPredictionColumns, predictionColumns } from "./prediction-columns.tsx";
import { changeLogSearch, noFilters, useLog } from "./use-log.ts";

export const predictionsRoute = createLazyRoute("/predictions")({ component: PredictionsPage });

function PredictionsPage() {
  const presage = usePresage();
  const log = useLog();
  const refresh = useRefreshPredictions();
  const [isDeleting, setDeleting] = useState(false);
  const filter = toPredictionFilter(log.search, useNow());
  const list = useInfiniteQuery(storedPredictionsQuery(presage, filter));
  const count = useQuery(storedPredictionCountQuery(presage, filter));
  return (
    <Page
      title="Predictions"
      hint="Stored requests and responses, from runs and from captured live traffic."
      isFull
      actions={
        <>
          <IconButton label="Refresh" icon={<RefreshCw aria-hidden />} onClick={refresh} />
          <AllowedButton needs="manage" icon={<Trash2 aria-hidden />} onClick={() => setDeleting(true)}>
            Delete
          </AllowedButton>
        </>
      }
    >
      <LogFilters log={log} filter={filter} />
      <LogTable {...{ log, list, count }} />
      <DeletePredictionsDialog
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        filter={filter}
        isFiltered={log.isFiltered}
      />
    </Page>
  );
}

interface LogTableProps {
  log: ReturnType<typeof useLog>;
  list: EndlessList & { data: ListedPrediction[] | undefined };
  count: Pick<UseQueryResult<PredictionCount>, "data" | "isError">;
}

function LogTable({ log, list, count }: LogTableProps) {
  const { search, change, isFiltered } = log;
  const columns = useNarrow() ? narrowPredictionColumns : predictionColumns;
  const { data: rows } = list;
  const view = useTableView("predictions", columns, { isInAddress: true });
  const table = useDataTable({
    label: "Predictions",
    view,
    columns,
    rows,
    rowId: ({ id }) => id,
    rowName: ({ id }) => `Prediction ${id}`,
    link: ({ id }) => ({ to: "/predictions", search: changeLogSearch(search, { open: id }) }),
    openId: search.open,
    sorting: "server",
    isMain: true,
  });
  const index = rows?.findIndex(({ id }) => id === search.open) ?? -1;
  const open = (id: string | undefined) => change({ open: id }, { replace: search.open !== undefined });
  return (
    <section
      aria-label="Predictions"
      className="flex min-h-80 flex-1 flex-col overflow-hidden rounded-lg border border-line bg-surface"
    >
      <header className="flex min-h-10 flex-wrap items-center gap-x-2 border-b border-line px-4 py-1 text-xs text-ink-2">
        <p className="whitespace-nowrap" role="status">
          {describeCount(count, isFiltered)}
        </p>
        {isFiltered && (
          <Button size="small" variant="quiet" onClick={() => change(noFilters)}>
            Clear the filters
          </Button>
        )}
        <span className="flex-1" />
        <TableTools table={table} />
      </header>
      <EndlessTable table={table} list={list} isFull expectedRows={12} empty={<NoPredictions log={log} />} />
      <PredictionDrawer
        id={search.open}
        previous={index > 0 ? rows?.[index - 1]?.id : undefined}
        next={index >= 0 ? rows?.[index + 1]?.id : undefined}
        log={log}
        onOpen={open}
        onCloseAutoFocus={table.takeFocusBack}
      />
    </section>
  );
}

interface PredictionCount {
  count: number;
  has_more: boolean;
}

function describeCount({ data, isError }: LogTableProps["count"], isFiltered: boolean): string {
  if (data === undefined) return isError ? "These predictions could not be counted." : "Counting…";
  const { count, has_more } = data;
  const number = has_more ? `More than ${formatCount(count)}` : formatCount(count);
  const noun = count === 1 ? "prediction" : "predictions";
  return isFiltered ? `${number} ${noun} match` : `${number} ${noun}`;
}
