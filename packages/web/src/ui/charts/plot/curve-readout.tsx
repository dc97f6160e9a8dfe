import { ChartSwatch } from "../chart-swatch.tsx";
import { type CurveSeries, type CurveShape, pointAt } from "./curve.ts";

interface CurveReadoutProps {
  x: number;
  xLabel: string;
  series: readonly (CurveSeries & { color: string })[];
  shape: CurveShape;
  format(value: number): string;
  /** Of the place, in pixels. */
  left: number;
  /** Whether it stands to the right of the place. */
  isRight: boolean;
}

/** The values at one place, beside it. */
export function CurveReadout({ x, xLabel, series, shape, format, left, isRight }: CurveReadoutProps) {
  return (
    <div
      aria-hidden
      style={{ left, transform: isRight ? "translateX(10px)" : "translateX(calc(-100% - 10px))" }}
      className="pointer-events-none absolute top-2 z-10 w-max max-w-64 rounded-md border border-line bg-surface px-3 py-2 text-xs shadow-float"
    >
      <p className="mb-1 font-medium">
        {xLabel} {x}
      </p>
      <ul className="flex flex-col gap-1">
        {series.map((one) => {
          const { value, lower, upper, basis } = pointAt(one, x, shape) ?? { value: null };
          return (
            <li key={one.key}>
              <span className="flex items-center gap-1.5">
                <ChartSwatch color={one.color} shape="line" isDashed={one.isDashed ?? false} />
                <span className="min-w-0 flex-1 truncate text-ink-2">{one.label}</span>
                <span className="pl-3 font-medium tabular-nums">{value === null ? "–" : format(value)}</span>
              </span>
              {value !== null && (
                <span className="block pl-5 text-ink-3 tabular-nums">
                  {lower != null && upper != null && `${format(lower)} – ${format(upper)}`}
                  {basis !== undefined && <span className="block">{basis}</span>}
                </span>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
