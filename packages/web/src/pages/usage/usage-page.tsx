import type { SpendingResponse } from "@presage/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChartColumn, Download, Ellipsis } from "lucide-react";
import { useState } from "react";
import { usePresage } from "../../data/client.ts";
import { budgetsQuery, monthSpendingQuery, spendingQuery } from "../../data/spending.ts";
import { formatCost, formatCount, formatShortCost, formatShortCount } from "../../format/numbers.ts";
import { defaultPeriod, periodLabels, stepStartsMs } from "../../format/times.ts";
import { buttonClass, IconButton } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { TimeChart } from "../../ui/charts/time-chart.tsx";
import type { ChartPoint, ChartSeries } from "../../ui/charts/time-series.ts";
import { PeriodPicker, Segmented } from "../../ui/form/choices.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { ChartSkeleton, SkeletonRows } from "../../ui/skeleton.tsx";
import { MoneyCard } from "./money-card.tsx";
import { PeopleTable } from "./people-table.tsx";
import { useUsageDownload } from "./usage-export.ts";

export const usageRoute = createLazyRoute("/usage")({ component: UsagePage });

function UsagePage() {
  const { period = defaultPeriod } = usageRoute.useSearch();
  const navigate = usageRoute.useNavigate();
  const presage = usePresage();
  const month = useQuery(monthSpendingQuery(presage));
  const budgets = useQuery(budgetsQuery(presage));
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...spendingQuery(presage, period),
    placeholderData: keepPreviousData,
  });
  const download = useUsageDownload(period);
  const failed = error ?? month.error ?? budgets.error;
  const retry = () => [refetch(), month.refetch(), budgets.refetch()];
  return (
    <Page
      title="People & spend"
      hint="What your account spends, by whom and on what. Figures lag by about 10 seconds."
      actions={
        <>
          <PeriodPicker
            value={period}
            onChange={(next) =>
              navigate({ search: next === defaultPeriod ? {} : { period: next }, replace: true })
            }
          />
          <Menu trigger={<IconButton label="More" icon={<Ellipsis aria-hidden />} />}>
            <MenuItem icon={<Download aria-hidden />} onSelect={() => download.mutate()}>
              Download as CSV
            </MenuItem>
          </Menu>
        </>
      }
    >
      {failed !== null && <ErrorNotice error={failed} onRetry={retry} />}
      {download.error !== null && <ErrorNotice error={download.error} onRetry={download.mutate} />}
      {month.data !== undefined && budgets.data !== undefined ? (
        <MoneyCard month={month.data} budgets={budgets.data} />
      ) : (
        failed === null && (
          <Card>
            <SkeletonRows count={1} className="h-20.5" />
          </Card>
        )
      )}
      {data === undefined ? (
        failed === null && <Loading />
      ) : (
        <div
          className={clsx(
            "flex min-w-0 flex-col gap-4 transition-opacity",
            isPlaceholderData && "opacity-60",
          )}
        >
          {data.people.length === 0 ? (
            <NothingAsked name={periodLabels[period]} />
          ) : (
            <>
              <SpendingChart spending={data} />
              <PeopleTable spending={data} />
            </>
          )}
        </div>
      )}
    </Page>
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
      <Card title="By day">
        <ChartSkeleton />
      </Card>
      <Card title="By person">
        <SkeletonRows count={5} />
      </Card>
    </>
  );
}

type Parts = "person" | "model";
const waysToStack: { value: Parts; label: string }[] = [
  { value: "person", label: "By person" },
  { value: "model", label: "By model" },
];

/** Limited, since more colours in a stack cannot be told apart. */
const maxParts = 5;
const others = "others";

/** Cost over time (tokens if there are no prices), stacked by who or what caused it. */
function SpendingChart({ spending }: { spending: SpendingResponse }) {
  const [by, setBy] = useState<Parts>("person");
  const { since, until, step, currency, data, people } = spending;
  const amount = ({ cost, tokens }: (typeof data)[number]) => (currency === null ? tokens : (cost ?? 0));
  const format = (value: number) => (currency === null ? formatCount(value) : formatCost(value, currency));
  const nameOf = new Map(people.map(({ user_id, name }) => [user_id ?? "", name ?? user_id ?? "Not known"]));
  const partOf = ({ user_id, model }: (typeof data)[number]) =>
    by === "person" ? (user_id ?? "") : (model ?? "");
  const labelOf = (part: string) =>
    by === "person" ? (nameOf.get(part) ?? part) : part === "" ? "Model not known" : part;
  const sumOf = (rows: typeof data) => rows.reduce((sum, row) => sum + amount(row), 0);

  const ranked = [...Map.groupBy(data, partOf)].sort(([, a], [, b]) => sumOf(b) - sumOf(a));
  const shown = ranked.slice(0, maxParts).map(([part]) => part);
  // Keys of series must not contain dots, which names of models do.
  const keyOf = (row: (typeof data)[number]) => {
    const place = shown.indexOf(partOf(row));
    return place < 0 ? others : `part${place}`;
  };
  const rowsOf = Map.groupBy(data, keyOf);
  const series = [
    ...shown.map((part, place) => ({ key: `part${place}`, label: labelOf(part) })),
    otherParts(),
  ]
    .flatMap((part) => part ?? [])
    .map(
      ({ key, label }, place): ChartSeries => ({
        key,
        label,
        color: key === others ? "var(--color-ink-3)" : `var(--color-chart-${place + 1})`,
        shape: "bar",
        total: format(sumOf(rowsOf.get(key) ?? [])),
      }),
    );
  function otherParts() {
    const rest = ranked.length - shown.length;
    return rest > 0 ? { key: others, label: rest === 1 ? "1 other" : `${rest} others` } : undefined;
  }

  const starts = Map.groupBy(data, ({ start }) => Date.parse(start));
  const points = stepStartsMs(since, step, Date.parse(until)).map((startMs): ChartPoint => {
    const parts = Map.groupBy(starts.get(startMs) ?? [], keyOf);
    const values = series.map(({ key }) => [key, sumOf(parts.get(key) ?? [])] as const);
    return { startMs, values: Object.fromEntries(values) };
  });
  const unit = currency === null ? "Tokens" : "Cost";
  return (
    <Card
      title={`${unit} by ${step}`}
      hint={step === "day" ? "Days are in UTC." : "Hours are in your time zone."}
      actions={
        <Segmented label="Stacked" value={by} options={waysToStack} onChange={(next) => setBy(next)} />
      }
    >
      <TimeChart
        label={`${unit} by ${step} and ${by}`}
        step={step}
        points={points}
        series={series}
        format={format}
        formatTick={currency === null ? formatShortCount : (cost) => formatShortCost(cost, currency)}
        isWhole={currency === null}
      />
    </Card>
  );
}
