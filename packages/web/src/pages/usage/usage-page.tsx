import type { UsageOperation, UsageResponse, UsageRow } from "@presage/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChartColumn } from "lucide-react";
import { useMemo } from "react";
import { usePresage } from "../../data/client.ts";
import { sumUsage, type UsageFigures, usageQuery } from "../../data/usage.ts";
import { defaultPeriod, periodLabels, stepStartsMs } from "../../format/times.ts";
import { operationLabels } from "../../format/words.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import { DataTable } from "../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../ui/data-table/table-model.ts";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../ui/data-table/table-view.ts";
import { PeriodPicker } from "../../ui/form/choices.tsx";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { ChartSkeleton, SkeletonRows } from "../../ui/skeleton.tsx";
import { KeysCard, KeysChart, rankKeys } from "./keys-card.tsx";
import { usageColumns } from "./usage-columns.tsx";
import { DownloadButton } from "./usage-export.tsx";

export const usageRoute = createLazyRoute("/usage")({ component: UsagePage });

function UsagePage() {
  const { period = defaultPeriod } = usageRoute.useSearch();
  const navigate = usageRoute.useNavigate();
  const presage = usePresage();
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...usageQuery(presage, period),
    placeholderData: keepPreviousData,
  });
  const current = data?.current;
  const canSave = current !== undefined && current.data.length > 0 && !isPlaceholderData;
  return (
    <Page
      title="Usage"
      hint="Requests and tokens of your account, by API key. Counts lag by about 10 seconds."
      actions={
        <>
          <PeriodPicker
            value={period}
            onChange={(next) =>
              navigate({ search: next === defaultPeriod ? {} : { period: next }, replace: true })
            }
          />
          <DownloadButton
            fileName={`presage-usage-${period}-${current?.until.slice(0, 10)}.csv`}
            usage={canSave ? current : undefined}
          />
        </>
      }
    >
      {error !== null && <ErrorNotice error={error} onRetry={refetch} />}
      {current === undefined ? (
        error === null && <Loading />
      ) : (
        <div
          className={clsx(
            "flex min-w-0 flex-col gap-4 transition-opacity",
            isPlaceholderData && "opacity-60",
          )}
        >
          {current.data.length === 0 ? (
            <NothingAsked name={periodLabels[data?.period ?? period]} />
          ) : (
            <Usage {...current} />
          )}
        </div>
      )}
    </Page>
  );
}

function Usage({ since, until, step, currency, data, api_keys }: UsageResponse) {
  const keys = useMemo(() => rankKeys(data, api_keys), [data, api_keys]);
  const all = useMemo(() => sumUsage(data), [data]);
  const stepStarts = useMemo(() => stepStartsMs(since, step, Date.parse(until)), [since, step, until]);
  return (
    <>
      <KeysChart since={since} until={until} step={step} keys={keys} />
      <KeysCard keys={keys} all={all} currency={currency} stepStarts={stepStarts} />
      <OperationsCard rows={data} all={all} currency={currency} />
    </>
  );
}

interface OperationsCardProps {
  rows: readonly UsageRow[];
  all: UsageFigures;
  currency: string | null;
}

interface UsageOfOperation extends UsageFigures {
  operation: UsageOperation;
}

const operationColumn: DataColumn<UsageOfOperation> = {
  id: "operation",
  label: "Operation",
  value: ({ operation }) => operationLabels[operation],
  cell: ({ operation }) => <span className="font-medium">{operationLabels[operation]}</span>,
  widthPx: 168,
  isElastic: true,
  isFixed: true,
};

function OperationsCard({ rows, all, currency }: OperationsCardProps) {
  const operations = useMemo(() => sumByOperation(rows), [rows]);
  const columns = useMemo(
    (): DataColumn<UsageOfOperation>[] => [operationColumn, ...usageColumns(all, currency)],
    [all, currency],
  );
  const table = useDataTable({
    label: "Usage by operation",
    view: useTableView("usage-operations", columns),
    columns,
    rows: operations,
    rowId: ({ operation }) => operation,
    rowName: ({ operation }) => operationLabels[operation],
  });
  return (
    <Card title="By operation" actions={<TableTools table={table} />}>
      <DataTable table={table} empty={null} />
    </Card>
  );
}

function sumByOperation(rows: readonly UsageRow[]): UsageOfOperation[] {
  const rowsOf = Map.groupBy(rows, ({ operation }) => operation);
  return (Object.keys(operationLabels) as UsageOperation[]).map((operation) => ({
    operation,
    ...sumUsage(rowsOf.get(operation) ?? []),
  }));
}

function NothingAsked({ name }: { name: string }) {
  return (
    <Card>
      <EmptyState
        icon={ChartColumn}
        title={`No requests in the last ${name}`}
        actions={
          <>
            <Link to="/playground" className={buttonClass({ variant: "primary" })}>
              Open the playground
            </Link>
            <Link to="/api-keys" className={buttonClass({})}>
              View API keys
            </Link>
          </>
        }
      >
        Requests and tokens appear here a few seconds after they are used.
      </EmptyState>
    </Card>
  );
}

function Loading() {
  return (
    <>
      <Card title="Over time">
        <ChartSkeleton />
      </Card>
      <Card title="By key">
        <SkeletonRows count={5} />
      </Card>
    </>
  );
}
