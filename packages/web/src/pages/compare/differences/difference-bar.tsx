import type { Axis } from "./axis.ts";

interface DifferenceBarProps {
  axis: Axis;
  value: number;
  interval: { lower: number; upper: number } | null;
  color: string;
}

/** A difference as a dot with its interval on a common axis, on which zero is marked. Show the numbers beside it. */
export function DifferenceBar({ axis, value, interval, color }: DifferenceBarProps) {
  const at = (share: number) => `${(100 * (share - axis.lower)) / (axis.upper - axis.lower)}%`;
  return (
    <svg aria-hidden className="h-7 w-full min-w-40 overflow-visible">
      {axis.ticks.map((tick) => (
        <line key={tick} x1={at(tick)} x2={at(tick)} y1="0" y2="28" className="stroke-line" />
      ))}
      <line x1={at(0)} x2={at(0)} y1="-1" y2="29" className="stroke-ink-3" strokeWidth="1.5" />
      {interval !== null && (
        <>
          <line
            x1={at(interval.lower)}
            x2={at(interval.upper)}
            y1="14"
            y2="14"
            stroke={color}
            strokeWidth="2"
          />
          {[interval.lower, interval.upper].map((end, index) => (
            <line
              key={index === 0 ? "lower" : "upper"}
              x1={at(end)}
              x2={at(end)}
              y1="10"
              y2="18"
              stroke={color}
              strokeWidth="1.5"
            />
          ))}
        </>
      )}
      <circle cx={at(value)} cy="14" r="4" fill={color} className="stroke-surface" />
    </svg>
  );
}

/** The values of the axis, below the bars. */
export function AxisLabels({ axis }: { axis: Axis }) {
  return (
    <span aria-hidden className="relative block h-4 text-xs text-ink-3 tabular-nums">
      {axis.ticks.map((tick) => (
        <span
          key={tick}
          className="absolute -translate-x-1/2"
          style={{ left: `${(100 * (tick - axis.lower)) / (axis.upper - axis.lower)}%` }}
        >
          {formatTick(tick)}
        </span>
      ))}
    </span>
  );
}

function formatTick(tick: number): string {
  const points = Number((Math.abs(tick) * 100).toFixed(1));
  return tick < 0 && points !== 0 ? `−${points}` : String(points);
}
