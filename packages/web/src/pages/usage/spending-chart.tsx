import type { SpendingResponse } from "@presage/sdk";
import { useState } from "react";
import { formatCost, formatCount, formatShortCost, formatShortCount } from "../../format/numbers.ts";
import { stepStartsMs } from "../../format/times.ts";
import { Card } from "../../ui/card.tsx";
import { clipPeaks } from "../../ui/charts/scale.ts";
import { TimeChart } from "../../ui/charts/time-chart.tsx";
import type { ChartPoint, ChartSeries } from "../../ui/charts/time-series.ts";
import { Segmented } from "../../ui/form/choices.tsx";

type Parts = "person" | "model";
const options: { value: Parts; label: string }[] = [
  { value: "person", label: "By person" },
  { value: "model", label: "By model" },
];

/** More colours cannot be told apart in a stack. */
const maxParts = 5;
const others = "others";

/** Money over time, or tokens where there are no prices, stacked by who spent it or on what. */
export function SpendingChart({ spending }: { spending: SpendingResponse }) {
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
  // Keys of series have no dots, which names of models do.
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
        color: key === others ? "var(--ink-3)" : `var(--chart-${place + 1})`,
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
      actions={<Segmented label="Stacked" value={by} options={options} onChange={(next) => setBy(next)} />}
    >
      <TimeChart
        label={`${unit} by ${step} and ${by}`}
        step={step}
        points={points}
        series={series}
        format={format}
        formatTick={currency === null ? formatShortCount : (cost) => formatShortCost(cost, currency)}
        // One large import must not flatten the rest.
        greatest={clipPeaks(
          points.map(({ values }) =>
            Object.values(values).reduce<number>((sum, value) => sum + Number(value), 0),
          ),
        )}
        isWhole={currency === null}
      />
    </Card>
  );
}
