import type { ChartSeries } from "./time-series.ts";

/** What each colour and line of a chart stands for. */
export function ChartLegend({ series }: { series: readonly ChartSeries[] }) {
  return (
    <ul className="flex min-w-0 flex-1 flex-wrap gap-x-4 gap-y-1 text-xs">
      {series.map(({ key, label, total, ...look }) => (
        <li key={key} className="flex min-w-0 items-center gap-1.5">
          <ChartSwatch {...look} />
          <span title={label} className="max-w-64 truncate text-ink-2">
            {label}
          </span>
          {total !== undefined && <span className="font-medium tabular-nums">{total}</span>}
        </li>
      ))}
    </ul>
  );
}

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
