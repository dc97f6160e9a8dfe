import type { ChartSeries } from "./chart-series.ts";
import { ChartSwatch } from "./chart-swatch.tsx";

/** What each series is called and comes to. */
export function ChartLegend({ series }: { series: readonly ChartSeries[] }) {
  return (
    <ul className="flex min-w-0 flex-1 flex-wrap gap-x-4 gap-y-1 text-xs">
      {series.map(({ key, label, total, ...look }) => (
        <li key={key} className="flex min-w-0 items-center gap-1.5">
          <ChartSwatch {...look} />
          <span title={label} className="max-w-48 truncate text-ink-2">
            {label}
          </span>
          {total !== undefined && <span className="font-medium tabular-nums">{total}</span>}
        </li>
      ))}
    </ul>
  );
}
