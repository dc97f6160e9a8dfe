// A chart in a line of text, without an axis: the numbers are next to it.

interface IntervalBarProps {
  /** From 0 to 1, like the other two. */
  value: number;
  lower: number;
  upper: number;
  /** Another figure to compare with, marked on the same axis. */
  baseline?: number | undefined;
}

/** A share as a point with whiskers, from 0 to 1. Show the numbers next to it. */
export function IntervalBar({ value, lower, upper, baseline }: IntervalBarProps) {
  const percent = (share: number) => `${share * 100}%`;
  return (
    <svg aria-hidden className="h-4 w-full min-w-16 overflow-visible">
      <line x1="0" x2="100%" y1="8" y2="8" className="stroke-line" strokeWidth="2" />
      <line
        x1={percent(lower)}
        x2={percent(upper)}
        y1="8"
        y2="8"
        stroke="var(--color-chart-1)"
        strokeWidth="2"
      />
      {[lower, upper].map((end, index) => (
        <line
          key={index === 0 ? "lower" : "upper"}
          x1={percent(end)}
          x2={percent(end)}
          y1="4.5"
          y2="11.5"
          stroke="var(--color-chart-1)"
          strokeWidth="1.5"
        />
      ))}
      {baseline !== undefined && (
        <line
          x1={percent(baseline)}
          x2={percent(baseline)}
          y1="1"
          y2="15"
          className="stroke-ink-3"
          strokeWidth="2"
        />
      )}
      <circle cx={percent(value)} cy="8" r="3.5" fill="var(--color-chart-1)" className="stroke-surface" />
    </svg>
  );
}
