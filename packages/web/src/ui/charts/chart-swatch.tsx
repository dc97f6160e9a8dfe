import type { ChartSeries } from "./chart-series.ts";

export function ChartSwatch({
  color,
  shape,
  isDashed = false,
}: Pick<ChartSeries, "color" | "shape" | "isDashed">) {
  return (
    <svg aria-hidden viewBox="0 0 14 10" className="h-2.5 w-3.5 shrink-0">
      {shape === "line" ? (
        <line
          x1="0"
          x2="14"
          y1="5"
          y2="5"
          stroke={color}
          strokeWidth="2"
          strokeDasharray={isDashed ? "4 2" : undefined}
        />
      ) : (
        <rect x="2" width="10" height="10" rx="2" fill={color} opacity={shape === "band" ? 0.3 : 1} />
      )}
    </svg>
  );
}
