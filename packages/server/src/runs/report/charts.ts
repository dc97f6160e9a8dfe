import { shortened } from "../../platform/words.ts";
export interface ChartPoint {
  step: number;
  share: number;
  interval: { lower: number; upper: number } | null;
  baseline: number | null;
}

/** What the values of a chart with intervals are between. */
export interface IntervalAxis {
  from: number;
  to: number;
  format(value: number): string;
}

export interface IntervalRow {
  name: string;
  value: number | null;
  interval: { lower: number; upper: number } | null;
  /** What it is to be compared with: a mark across the row. */
  reference?: number | null;
}

const area = { left: 48, right: 668, top: 10, bottom: 190 };
const mostTicks = 10;
const mostDots = 60;

/** Shares by step as a picture, which has no texts but numbers. */
export function chartSvg(points: readonly ChartPoint[]): string {
  const first = points[0]?.step ?? 0;
  const span = Math.max(1, (points.at(-1)?.step ?? 0) - first);
  const x = (step: number) => (area.left + ((step - first) / span) * (area.right - area.left)).toFixed(1);
  const y = (share: number) => (area.bottom - share * (area.bottom - area.top)).toFixed(1);
  const at = (step: number, share: number) => `${x(step)},${y(share)}`;
  const known = points.flatMap(({ step, interval }) => (interval === null ? [] : { step, ...interval }));
  const upper = known.map((one) => at(one.step, one.upper));
  const lower = known.map((one) => at(one.step, one.lower)).reverse();
  const unchanged = points.flatMap(({ step, baseline }) => (baseline === null ? [] : at(step, baseline)));
  const ticks = Array.from(
    { length: mostTicks + 1 },
    (_, index) => first + Math.round((span * index) / mostTicks),
  );
  return [
    `<svg viewBox="0 0 ${area.right + 12} ${area.bottom + 40}" aria-hidden="true">`,
    ...[0, 0.25, 0.5, 0.75, 1].map(
      (share) =>
        `<line x1="${area.left}" x2="${area.right}" y1="${y(share)}" y2="${y(share)}"/><text class="y" x="${area.left - 6}" y="${y(share)}" dy=".35em">${100 * share} %</text>`,
    ),
    ...Array.from(new Set(ticks), (step) => `<text x="${x(step)}" y="${area.bottom + 16}">${step}</text>`),
    `<text x="${x(first + span / 2)}" y="${area.bottom + 34}">Step</text>`,
    `<polygon points="${[...upper, ...lower].join(" ")}"/>`,
    ...(unchanged.length === 0 ? [] : [`<polyline class="unchanged" points="${unchanged.join(" ")}"/>`]),
    `<polyline points="${points.map(({ step, share }) => at(step, share)).join(" ")}"/>`,
    ...(points.length > mostDots ? [] : points).map(
      ({ step, share }) => `<circle cx="${x(step)}" cy="${y(share)}" r="2.5"/>`,
    ),
    "</svg>",
  ].join("\n");
}

const row = { height: 26, names: 210, right: 668, top: 6 };
/** Of a name; the table has all of it. */
const mostCharacters = 30;
const parts = 4;

/** Values with intervals, one below the other, on one axis. Names are escaped by the caller's function. */
export function intervalsSvg(
  { from, to, format }: IntervalAxis,
  rows: readonly IntervalRow[],
  escapeName: (text: string) => string,
): string {
  const bottom = row.top + rows.length * row.height;
  const x = (value: number) => {
    const share = (Math.min(to, Math.max(from, value)) - from) / (to - from);
    return (row.names + share * (row.right - row.names)).toFixed(1);
  };
  const ticks = Array.from({ length: parts + 1 }, (_, index) => from + ((to - from) * index) / parts);
  return [
    `<svg viewBox="0 0 ${row.right + 28} ${bottom + 24}" aria-hidden="true">`,
    ...ticks.map(
      (tick) =>
        `<line x1="${x(tick)}" x2="${x(tick)}" y1="${row.top}" y2="${bottom}"/><text x="${x(tick)}" y="${bottom + 17}">${escapeName(format(tick))}</text>`,
    ),
    ...rows.flatMap(({ name, value, interval, reference = null }, index) => {
      const y = row.top + (index + 0.5) * row.height;
      const cut = name.length > mostCharacters ? shortened(name, mostCharacters - 1) : name;
      return [
        `<text class="name" x="0" y="${y}" dy=".35em">${escapeName(cut)}</text>`,
        ...(interval === null
          ? []
          : [
              `<line class="interval" x1="${x(interval.lower)}" x2="${x(interval.upper)}" y1="${y}" y2="${y}"/>`,
            ]),
        ...(reference === null
          ? []
          : [
              `<line class="reference" x1="${x(reference)}" x2="${x(reference)}" y1="${y - 8}" y2="${y + 8}"/>`,
            ]),
        ...(value === null ? [] : [`<circle cx="${x(value)}" cy="${y}" r="4"/>`]),
      ];
    }),
    "</svg>",
  ].join("\n");
}
