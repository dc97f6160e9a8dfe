/** A quantity over time. */
export interface ChartSeries {
  /** Names its values in the points; without dots. */
  key: string;
  label: string;
  /** A colour of CSS, which must be one of the tokens. */
  color: string;
  /** Bars stand on each other. A band lies between the lower and the upper end of an interval. */
  shape: "bar" | "line" | "band";
  /** Told apart from another line without its colour. */
  isDashed?: boolean;
  /** What the whole period comes to. */
  total?: string;
}

/** Null: nothing was measured, which is not 0. */
export type ChartValue = number | readonly [lower: number, upper: number] | null;

export interface ChartPoint {
  /** Where the step begins. */
  startMs: number;
  values: Readonly<Record<string, ChartValue>>;
}

/** A value in words. */
export function formatChartValue(value: ChartValue | undefined, format: (value: number) => string): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? format(value) : `${format(value[0])} – ${format(value[1])}`;
}

/** The points that have a value and none beside them, which no line reaches. */
export function findLonePoints(points: readonly ChartPoint[], key: string): Set<ChartPoint> {
  const isGap = (point: ChartPoint | undefined) => (point?.values[key] ?? null) === null;
  return new Set(
    points.filter((point, index) => !isGap(point) && isGap(points[index - 1]) && isGap(points[index + 1])),
  );
}
