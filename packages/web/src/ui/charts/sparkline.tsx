const width = 96;
const height = 20;

/** Counts over time without an axis, from 0 to their maximum. Show the numbers beside it. */
export function Sparkline({ values }: { values: readonly number[] }) {
  const greatest = Math.max(1, ...values);
  const stepWidth = width / Math.max(1, values.length - 1);
  const points = values.map(
    (value, index) =>
      `${(index * stepWidth).toFixed(1)},${(height - (value / greatest) * height).toFixed(1)}`,
  );
  return (
    <svg aria-hidden viewBox={`-1 -1 ${width + 2} ${height + 2}`} className="h-5 w-24 text-[var(--chart-1)]">
      <polygon
        points={`0,${height} ${points.join(" ")} ${width},${height}`}
        className="fill-current opacity-15"
      />
      <polyline
        points={points.join(" ")}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinejoin="round"
      />
    </svg>
  );
}
