import type { UsageResponse } from "@presage/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChartColumn, Download } from "lucide-react";
import { useMemo } from "react";
import { defaultPeriod, periodLabels, stepStartsMs } from "../../data/figures/period.ts";
import { sumUsage } from "../../data/figures/usage-figures.ts";
import { usageQuery } from "../../data/usage.ts";
import { usePresage } from "../../data/use-presage.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ChartSkeleton } from "../../ui/charts/chart-skeleton.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { PeriodPicker } from "../../ui/form/period-picker.tsx";
import { Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { KeysCard } from "./keys-card.tsx";
import { KeysChart } from "./keys-chart.tsx";
import { OperationsCard } from "./operations-card.tsx";
import { rankKeys } from "./rank-keys.ts";
import { usageCsv } from "./usage-csv.ts";

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
            write={canSave ? () => usageCsv(current) : undefined}
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

interface DownloadButtonProps {
  fileName: string;
  /** Undefined while there is nothing to save. */
  write: (() => string) | undefined;
}

function DownloadButton({ fileName, write }: DownloadButtonProps) {
  function save() {
    if (write === undefined) return;
    const address = URL.createObjectURL(new Blob([write()], { type: "text/csv" }));
    const link = document.createElement("a");
    link.href = address;
    link.download = fileName;
    link.click();
    URL.revokeObjectURL(address);
  }
  return (
    <Button icon={<Download aria-hidden />} disabled={write === undefined} onClick={save}>
      Download CSV
    </Button>
  );
}
