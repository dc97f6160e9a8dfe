/** A share at a step. */
export interface ChartPoint {
  step: number;
  share: number;
  interval: { lower: number; upper: number } | null;
  baseline: number | null;
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
