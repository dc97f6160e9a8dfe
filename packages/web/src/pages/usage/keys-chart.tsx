import type { UsageResponse, UsageRow } from "@presage/sdk";
import { useState } from "react";
import { clipPeaks } from "../../data/figures/clip-peaks.ts";
import { stepStartsMs } from "../../data/figures/period.ts";
import { countTokens, groupByStep, sumUsage, type UsageFigures } from "../../data/figures/usage-figures.ts";
import { formatCount, formatShortCount } from "../../format/format-number.ts";
import { Card } from "../../ui/card.tsx";
import type { ChartPoint, ChartSeries } from "../../ui/charts/chart-series.ts";
import { TimeChart } from "../../ui/charts/time-chart.tsx";
import { Segmented } from "../../ui/form/segmented.tsx";
import type { UsageOfKey } from "./rank-keys.ts";

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
  return measureOf(sumUsage(rows), measure);
}

function measureOf(figures: UsageFigures, measure: Measure): number {
  return measure === "tokens" ? countTokens(figures) : figures[measure];
}
