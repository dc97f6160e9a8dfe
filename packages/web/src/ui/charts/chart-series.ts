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
