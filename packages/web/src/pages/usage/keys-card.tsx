import type { UsageKey, UsageResponse, UsageRow } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { apiKeysQuery } from "../../data/api-keys.ts";
import { usePresage } from "../../data/client.ts";
import { countTokens, groupByStep, sumUsage, type UsageFigures } from "../../data/usage.ts";
import { formatCount, formatShortCount } from "../../format/numbers.ts";
import { stepStartsMs } from "../../format/times.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { clipPeaks } from "../../ui/charts/scale.ts";
import { Sparkline } from "../../ui/charts/sparkline.tsx";
import { TimeChart } from "../../ui/charts/time-chart.tsx";
import type { ChartPoint, ChartSeries } from "../../ui/charts/time-series.ts";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import { DataTable } from "../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../ui/data-table/table-model.ts";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../ui/data-table/table-view.ts";
import { Segmented } from "../../ui/form/choices.tsx";
import { useNow } from "../../ui/time.tsx";
import { describeUnpriced, usageColumns } from "./usage-columns.tsx";

interface KeysCardProps {
  keys: readonly UsageOfKey[];
  all: UsageFigures;
  currency: string | null;
  stepStarts: readonly number[];
}

export function KeysCard({ keys, all, currency, stepStarts }: KeysCardProps) {
  const presage = usePresage();
  const nowMs = useNow();
  // Usage covers every key of the account but has no expiry; that is known of the keys that the user may change.
  const { data: ownKeys } = useQuery(apiKeysQuery(presage));
  const rows = useMemo(() => {
    const isOver = (expiry: string | null | undefined) =>
      typeof expiry === "string" && Date.parse(expiry) <= nowMs;
    const expired = new Set(ownKeys?.filter(({ expires_at }) => isOver(expires_at)).map(({ id }) => id));
    return keys.map((usage) => ({ ...usage, isExpired: usage.keyId !== null && expired.has(usage.keyId) }));
  }, [keys, ownKeys, nowMs]);
  const figureColumns = useMemo(() => usageColumns(all, currency), [all, currency]);
  const columns = useMemo(
    (): DataColumn<KeyRow>[] => [nameColumn, timeColumn(stepStarts), ...figureColumns],
    [stepStarts, figureColumns],
  );
  const table = useDataTable({
    label: "Usage by key",
    view: useTableView("usage-keys", columns),
    columns,
    rows,
    rowId: ({ keyId }) => keyId ?? "dashboard",
    rowName: ({ name }) => name,
    isMain: true,
  });
  function totalOf({ id }: DataColumn<KeyRow>): ReactNode {
    if (id === nameColumn.id) return "All";
    return figureColumns.find((column) => column.id === id)?.cell?.(all, 0);
  }
  return (
    <Card title="By key" hint={describeUnpriced(all)} actions={<TableTools table={table} />}>
      <DataTable table={table} empty={null} totalOf={keys.length > 1 ? totalOf : undefined} />
    </Card>
  );
}

interface KeyRow extends UsageOfKey {
  isExpired: boolean;
}

interface UsageOfKey extends UsageFigures {
  /** Null: the dashboard. */
  keyId: string | null;
  /** Undefined for the dashboard. */
  key: UsageKey | undefined;
  name: string;
  rows: UsageRow[];
}

/** Most requests first. */
export function rankKeys(rows: readonly UsageRow[], keys: readonly UsageKey[]): UsageOfKey[] {
  const keyOf = new Map(keys.map((key) => [key.id, key]));
  return [...Map.groupBy(rows, ({ api_key_id }) => api_key_id)]
    .map(([keyId, ofKey]) => {
      const key = keyId === null ? undefined : keyOf.get(keyId);
      const name = keyId === null ? "Dashboard" : (key?.name ?? "Deleted key");
      return { keyId, key, name, rows: ofKey, ...sumUsage(ofKey) };
    })
    .sort((a, b) => b.requests - a.requests);
}

const nameColumn: DataColumn<KeyRow> = {
  id: "key",
  label: "Key",
  value: ({ name }) => name,
  cell: (row) => <KeyName usage={row} isExpired={row.isExpired} />,
  widthPx: 190,
  isElastic: true,
  isFixed: true,
};

function timeColumn(stepStarts: readonly number[]): DataColumn<KeyRow> {
  return {
    id: "time",
    label: "Over time",
    hint: "Requests in each hour or day of the period",
    cell: (usage) => <Sparkline values={countBySteps(usage, stepStarts)} />,
    widthPx: 132,
    isWideOnly: true,
  };
}

function KeyName({ usage: { key, keyId, name }, isExpired }: { usage: UsageOfKey; isExpired: boolean }) {
  return (
    <span className="flex w-36 min-w-0 flex-col md:w-64">
      <span className="flex min-w-0 items-center gap-2">
        <span className="truncate font-medium" title={name}>
          {name}
        </span>
        {key?.revoked_at ? <Badge>Revoked</Badge> : isExpired && <Badge tone="fail">Expired</Badge>}
      </span>
      <span className="text-xs text-ink-3">
        {keyId === null ? (
          "Requests by signed-in users"
        ) : (
          <code className="font-mono">{key === undefined ? keyId : `${key.prefix}…${key.last_four}`}</code>
        )}
      </span>
    </span>
  );
}

function countBySteps({ rows }: UsageOfKey, stepStarts: readonly number[]): number[] {
  const rowsOf = groupByStep(rows);
  return stepStarts.map((startMs) => sumUsage(rowsOf.get(startMs) ?? []).requests);
}

type Measure = "requests" | "tokens" | "failed";

const measures: { value: Measure; label: string }[] = [
  { value: "requests", label: "Requests" },
  { value: "tokens", label: "Tokens" },
  { value: "failed", label: "Failed" },
];

/** More colours cannot be told apart in a stack. */
const maxKeys = 5;

interface KeysChartProps extends Pick<UsageResponse, "since" | "until" | "step"> {
  /** Most requests first. */
  keys: readonly UsageOfKey[];
}

export function KeysChart({ since, until, step, keys }: KeysChartProps) {
  const [measure, setMeasure] = useState<Measure>("requests");
  // Ordered by requests for every measure, so that each key keeps its colour.
  const parts = keys.slice(0, maxKeys).map(({ keyId, name, rows }, index) => ({
    key: keyId ?? "dashboard",
    label: name,
    color: `var(--chart-${index + 1})`,
    rows,
  }));
  const rest = keys.slice(maxKeys);
  if (rest.length > 0) {
    const label = rest.length === 1 ? "1 other key" : `${rest.length} other keys`;
    parts.push({ key: "others", label, color: "var(--ink-3)", rows: rest.flatMap(({ rows }) => rows) });
  }
  const stepsOf = new Map(parts.map(({ key, rows }) => [key, groupByStep(rows)]));
  const points = stepStartsMs(since, step, Date.parse(until)).map((startMs): ChartPoint => {
    const values = [...stepsOf].map(([key, steps]) => [key, sum(steps.get(startMs) ?? [], measure)] as const);
    return { startMs, values: Object.fromEntries(values) };
  });
  const series = parts.map(
    ({ rows, ...look }): ChartSeries => ({
      ...look,
      shape: "bar",
      total: formatShortCount(sum(rows, measure)),
    }),
  );
  return (
    <Card
      title={step === "day" ? "By day and key" : "By hour and key"}
      hint={step === "day" ? "Days are in UTC." : "Hours are in your time zone."}
      actions={
        <Segmented label="Measure" value={measure} options={measures} onChange={(next) => setMeasure(next)} />
      }
    >
      <TimeChart
        label={`${measures.find(({ value }) => value === measure)?.label} by ${step} and key`}
        step={step}
        points={points}
        series={series}
        format={formatCount}
        formatTick={formatShortCount}
        // One large import must not flatten the rest.
        greatest={clipPeaks(points.map(({ values }) => sumOf(values)))}
        isWhole
      />
    </Card>
  );
}

function sumOf(values: ChartPoint["values"]): number {
  return Object.values(values).reduce<number>((sum, value) => sum + Number(value), 0);
}

function sum(rows: readonly UsageRow[], measure: Measure): number {
  const figures = sumUsage(rows);
  return measure === "tokens" ? countTokens(figures) : figures[measure];
}
