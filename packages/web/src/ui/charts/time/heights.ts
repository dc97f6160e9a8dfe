import type { ChartPoint, ChartSeries } from "../chart-series.ts";

/** A point that reaches above the axis. */
export interface Peak {
  /** Of the point. */
  index: number;
  value: number;
}

/** What one step adds to a stack of bars. */
export interface StackedBar {
  /** Of the point. */
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

export function findPeaks(
  points: readonly ChartPoint[],
  series: readonly ChartSeries[],
  greatest: number,
): Peak[] {
  return points
    .map((point, index) => ({ index, value: heightOf(point, series) }))
    .filter(({ value }) => value > greatest);
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

/** Bars are stacked; of lines the highest counts. */
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
