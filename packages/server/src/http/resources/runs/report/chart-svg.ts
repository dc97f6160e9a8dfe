/** A share at a step; null where it is not known. */
export interface ChartPoint {
  step: number;
  share: number;
  interval: { lower: number; upper: number } | null;
  baseline: number | null;
}

const width = 680;
const area = { left: 48, right: width - 12, top: 10, bottom: 190 };
const mostDots = 60;

/** Shares by step as a picture without texts of others. */
export function chartSvg(points: readonly ChartPoint[]): string {
  const first = points[0]?.step ?? 0;
  const span = Math.max(1, (points.at(-1)?.step ?? 0) - first);
  const x = (step: number) => round(area.left + ((step - first) / span) * (area.right - area.left));
  const y = (share: number) => round(area.bottom - share * (area.bottom - area.top));
  const line = (name: string, places: readonly string[]) =>
    places.length === 0 ? [] : [`<polyline class="${name}" points="${places.join(" ")}"/>`];
  const bands = runsOf(points, ({ interval }) => interval !== null).flatMap((run) => {
    const edge = (end: "lower" | "upper") =>
      run.flatMap(({ step, interval }) => (interval === null ? [] : [`${x(step)},${y(interval[end])}`]));
    return [`<polygon points="${[...edge("upper"), ...edge("lower").reverse()].join(" ")}"/>`];
  });
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<line x1="${area.left}" x2="${area.right}" y1="${y(share)}" y2="${y(share)}"/><text class="y" x="${area.left - 6}" y="${y(share) + 4}">${100 * share} %</text>`,
  );
  const ticks = ticksOf(first, span).map(
    (step) => `<text x="${x(step)}" y="${area.bottom + 16}">${step}</text>`,
  );
  const known = runsOf(points, ({ baseline }) => baseline !== null);
  return [
    `<svg viewBox="0 0 ${width} ${area.bottom + 40}" aria-hidden="true">`,
    ...grid,
    ...ticks,
    `<text x="${(area.left + area.right) / 2}" y="${area.bottom + 34}">Step</text>`,
    ...bands,
    ...known.flatMap((run) =>
      line(
        "baseline",
        run.map(({ step, baseline }) => `${x(step)},${y(baseline ?? 0)}`),
      ),
    ),
    ...line(
      "share",
      points.map(({ step, share }) => `${x(step)},${y(share)}`),
    ),
    ...(points.length > mostDots
      ? []
      : points.map(({ step, share }) => `<circle cx="${x(step)}" cy="${y(share)}" r="2.5"/>`)),
    "</svg>",
  ].join("\n");
}

/** The stretches of neighbours of which something is known. */
function runsOf(points: readonly ChartPoint[], isKnown: (point: ChartPoint) => boolean): ChartPoint[][] {
  const runs: ChartPoint[][] = [[]];
  for (const point of points) {
    if (isKnown(point)) runs.at(-1)?.push(point);
    else runs.push([]);
  }
  return runs.filter(({ length }) => length > 0);
}

/** At most about ten whole steps, at distances of 1, 2 or 5 times a power of ten. */
function ticksOf(first: number, span: number): number[] {
  const power = 10 ** Math.floor(Math.log10(span / 10));
  const distance = Math.max(
    1,
    [1, 2, 5, 10].map((factor) => factor * power).find((one) => span / one <= 10) ?? 1,
  );
  const start = Math.ceil(first / distance) * distance;
  return Array.from(
    { length: Math.floor((first + span - start) / distance) + 1 },
    (_, index) => start + index * distance,
  );
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
