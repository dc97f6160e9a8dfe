// Quantities over time: their names, and their highest values.

import type { Step } from "../../format/times.ts";

/** A quantity over time. */
export interface ChartSeries {
  /** The key of the values in the points; without dots. */
  key: string;
  label: string;
  /** A CSS colour, one of the tokens. */
  color: string;
  /** Bars are stacked. A band fills an interval. */
  shape: "bar" | "line" | "band";
  /** Tells lines apart without colours. */
  isDashed?: boolean;
  /** The total or average of the period, formatted. */
  total?: string;
}

/** Null: no value, which is not 0. */
type ChartValue = number | readonly [lower: number, upper: number] | null;

export interface ChartPoint {
  /** The start of the step. */
  startMs: number;
  values: Readonly<Record<string, ChartValue>>;
}

export function formatChartValue(value: ChartValue | undefined, format: (value: number) => string): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? format(value) : `${format(value[0])} – ${format(value[1])}`;
}

const hourMs = 3_600_000;
const hour = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const dayOfHour = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

const wholeDay = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

/** A step on an axis: hours in the user's time zone, days in UTC. */
export function formatStepShort(startMs: number, step: Step): string {
  return (step === "hour" ? hour : day).format(startMs);
}

/** A step with its date and time in full. */
export function formatStep(startMs: number, step: Step): string {
  if (step === "day") return `${wholeDay.format(startMs)}, UTC`;
  return `${dayOfHour.format(startMs)}, ${hour.format(startMs)}–${hour.format(startMs + hourMs)}`;
}

/** The part of a stack of bars that one step adds. */
export interface StackedBar {
  /** The index of the point. */
  index: number;
  from: number;
  to: number;
}

/** The highest value that a plot shows; 0 without values. */
export function highestOf(points: readonly ChartPoint[], series: readonly ChartSeries[]): number {
  const uppers = points.flatMap(({ values }) =>
    Object.values(values).map((value) => (typeof value === "number" ? 0 : (value?.[1] ?? 0))),
  );
  return Math.max(0, ...uppers, ...points.map((point) => heightOf(point, series)));
}

/** The bars of each series, on top of those of earlier series. What is above `top` is cut off. */
export function stackBars(
  points: readonly ChartPoint[],
  series: readonly ChartSeries[],
  top: number,
): Map<string, StackedBar[]> {
  const reached = points.map(() => 0);
  const stacks = series
    .filter(({ shape }) => shape === "bar")
    .map(({ key }) => {
      const bars = points.map((point, index): StackedBar => {
        const from = reached[index] ?? 0;
        const to = from + numberOf(point, key);
        reached[index] = to;
        return { index, from: Math.min(from, top), to: Math.min(to, top) };
      });
      return [key, bars.filter(({ from, to }) => to > from)] as const;
    });
  return new Map(stacks);
}

/** Bars count with their sum, lines with the highest. */
function heightOf(point: ChartPoint, series: readonly ChartSeries[]): number {
  let stacked = 0;
  let highest = 0;
  for (const { key, shape } of series) {
    if (shape === "bar") stacked += numberOf(point, key);
    if (shape === "line") highest = Math.max(highest, numberOf(point, key));
  }
  return Math.max(stacked, highest);
}

function numberOf({ values }: ChartPoint, key: string): number {
  const value = values[key];
  return typeof value === "number" ? value : 0;
}
