import type { UsageResponse, UsageRow } from "@presage/sdk";
import { useState } from "react";
import { groupByStep, sumUsage, type UsageFigures } from "../../data/usage-figures.ts";
import { formatCount, formatShortCount } from "../../text/format-number.ts";
import { stepStartsMs } from "../../text/period.ts";
import { Card } from "../../ui/card.tsx";
import type { ChartPoint, ChartSeries } from "../../ui/charts/chart-series.ts";
import { TimeChart } from "../../ui/charts/time-chart.tsx";
import { Segmented } from "../../ui/segmented.tsx";
import type { UsageOfKey } from "./rank-keys.ts";

const measures = [
  { value: "requests", label: "Requests" },
  { value: "tokens", label: "Tokens" },
  { value: "failed", label: "Failed" },
] as const;
type Measure = (typeof measures)[number]["value"];

/** More than these cannot be told apart in a stack. */
const mostKeys = 5;

interface KeysChartProps extends Pick<UsageResponse, "since" | "until" | "step"> {
  /** The most requests first. */
  keys: readonly UsageOfKey[];
}

/** What each key asked for over time, the keys on each other. */
export function KeysChart({ since, until, step, keys }: KeysChartProps) {
  const [measure, setMeasure] = useState<Measure>("requests");
  const ranked = keys.toSorted((a, b) => valueOf(b, measure) - valueOf(a, measure));
  const parts = ranked.slice(0, mostKeys).map(({ keyId, name, rows }, place) => ({
    key: keyId ?? "dashboard",
    label: name,
    color: `var(--chart-${place + 1})`,
    rows,
  }));
  const rest = ranked.slice(mostKeys);
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
      hint={step === "day" ? "Days are UTC days." : "Hours of your own clock."}
      actions={<Segmented label="What is counted" value={measure} options={measures} onChange={setMeasure} />}
    >
      <TimeChart
        label={`${measures.find(({ value }) => value === measure)?.label} by ${step} and key`}
        step={step}
        points={points}
        series={series}
        format={formatCount}
        formatTick={formatShortCount}
        isWhole
      />
    </Card>
  );
}

function sum(rows: readonly UsageRow[], measure: Measure): number {
  return valueOf(sumUsage(rows), measure);
}

function valueOf(figures: UsageFigures, measure: Measure): number {
  return measure === "tokens" ? figures.promptTokens + figures.completionTokens : figures[measure];
}
