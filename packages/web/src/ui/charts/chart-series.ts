/** A quantity over time. */
export interface ChartSeries {
  /** The key of its values in the points; without dots. */
  key: string;
  label: string;
  /** A CSS colour, one of the tokens. */
  color: string;
  /** Bars are stacked. A band fills an interval. */
  shape: "bar" | "line" | "band";
  /** To tell lines apart without colours. */
  isDashed?: boolean;
  /** The total or average of the period, formatted. */
  total?: string;
}

/** Null: no value, which is not 0. */
export type ChartValue = number | readonly [lower: number, upper: number] | null;

export interface ChartPoint {
  /** The start of the step. */
  startMs: number;
  values: Readonly<Record<string, ChartValue>>;
}

export function formatChartValue(value: ChartValue | undefined, format: (value: number) => string): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? format(value) : `${format(value[0])} – ${format(value[1])}`;
}

/** The points with a value but without neighbours, which no line reaches. */
export function findLonePoints(points: readonly ChartPoint[], key: string): Set<ChartPoint> {
  const isGap = (point: ChartPoint | undefined) => (point?.values[key] ?? null) === null;
  return new Set(
    points.filter((point, index) => !isGap(point) && isGap(points[index - 1]) && isGap(points[index + 1])),
  );
}

/** The points that reach above the axis, with their values: bars are stacked, of lines the highest counts. Of late ones, a note has room to the left. */
export function findPeaks(
  points: readonly ChartPoint[],
  series: readonly ChartSeries[],
  greatest: number,
): { startMs: number; value: number; isLate: boolean }[] {
  const bars = series.filter(({ shape }) => shape === "bar");
  const lines = series.filter(({ shape }) => shape === "line");
  return points
    .map(({ startMs, values }, index) => {
      const numberOf = ({ key }: ChartSeries) => {
        const value = values[key];
        return typeof value === "number" ? value : 0;
      };
      const stacked = bars.reduce((sum, one) => sum + numberOf(one), 0);
      const value = Math.max(stacked, ...lines.map(numberOf));
      return { startMs, value, isLate: index >= points.length / 2 };
    })
    .filter(({ value }) => value > greatest);
}
