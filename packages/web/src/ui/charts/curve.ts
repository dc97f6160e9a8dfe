/** A value with its interval at one place of a curve. */
export interface CurvePoint {
  x: number;
  /** Null: unknown, which leaves a gap. */
  value: number | null;
  lower?: number | null | undefined;
  upper?: number | null | undefined;
  /** What the value was computed from, for example “120 samples in 12 trajectories”. */
  basis?: string | undefined;
}

export interface CurveSeries {
  key: string;
  label: string;
  /** One of the colour tokens; chosen by the curve's position if absent. */
  color?: string | undefined;
  /** Tells lines apart without colours. */
  isDashed?: boolean | undefined;
  /** In ascending order of `x`. */
  points: readonly CurvePoint[];
}

/** `line` joins the points; `step` keeps each value until the next point. */
export type CurveShape = "line" | "step";

type Place = readonly [x: number, y: number];

interface CurvePaths {
  line: string;
  /** The stretches of the line that have an interval; all of a step curve. */
  sure: string;
  band: string;
  /** Points that no line reaches. */
  lone: readonly CurvePoint[];
}

/** The SVG paths of a series. */
export function curvePaths(
  points: readonly CurvePoint[],
  shape: CurveShape,
  toX: (x: number) => number,
  toY: (value: number) => number,
): CurvePaths {
  const lone: CurvePoint[] = [];
  const lines: string[] = [];
  const drawn = (stretch: readonly CurvePoint[], read: ReadPoint) => places(stretch, shape, toX, toY, read);
  for (const stretch of stretchesWhere(points, ({ value }) => value !== null)) {
    if (stretch.length === 1) lone.push(...stretch);
    lines.push(open(drawn(stretch, ({ value }) => value)));
  }
  const withInterval = stretchesWhere(points, hasInterval).map((stretch) =>
    shape === "step" ? untilNext(stretch, points) : stretch,
  );
  const sure = withInterval.map((stretch) => open(drawn(stretch, ({ value }) => value)));
  const bands = withInterval.map((stretch) => {
    const upper = drawn(stretch, (point) => point.upper);
    const lower = drawn(stretch, (point) => point.lower);
    return `${open([...upper, ...lower.toReversed()])}Z`;
  });
  const line = lines.join("");
  return { line, sure: shape === "step" ? line : sure.join(""), band: bands.join(""), lone };
}

type ReadPoint = (point: CurvePoint) => number | null | undefined;

/** A step keeps its interval up to the next point, even if that point has none. */
function untilNext(stretch: readonly CurvePoint[], points: readonly CurvePoint[]): readonly CurvePoint[] {
  const last = stretch.at(-1);
  const next = last && points[points.indexOf(last) + 1];
  return last === undefined || next === undefined ? stretch : [...stretch, { ...last, x: next.x }];
}

function hasInterval({ value, lower, upper }: CurvePoint): boolean {
  return value !== null && lower != null && upper != null;
}

function stretchesWhere(
  points: readonly CurvePoint[],
  isPart: (point: CurvePoint) => boolean,
): CurvePoint[][] {
  const stretches: CurvePoint[][] = [];
  let current: CurvePoint[] | undefined;
  for (const point of points) {
    if (!isPart(point)) {
      current = undefined;
    } else if (current === undefined) {
      current = [point];
      stretches.push(current);
    } else {
      current.push(point);
    }
  }
  return stretches;
}

function places(
  points: readonly CurvePoint[],
  shape: CurveShape,
  toX: (x: number) => number,
  toY: (value: number) => number,
  read: ReadPoint,
): Place[] {
  return points.flatMap((point, index): Place[] => {
    const here: Place = [toX(point.x), toY(read(point) ?? 0)];
    const before = points[index - 1];
    if (shape === "line" || before === undefined) return [here];
    return [[here[0], toY(read(before) ?? 0)], here];
  });
}

function open(path: readonly Place[]): string {
  return path.map(([x, y], index) => `${index === 0 ? "M" : "L"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
}

/** All places of some series, in ascending order. */
export function placesOf(series: readonly CurveSeries[]): number[] {
  return [...new Set(series.flatMap(({ points }) => points.map(({ x }) => x)))].sort(
    (one, other) => one - other,
  );
}

/** The point with the value at `x`: in a step curve, the last point up to there. */
export function pointAt({ points }: CurveSeries, x: number, shape: CurveShape): CurvePoint | undefined {
  if (shape === "line") return points.find((point) => point.x === x);
  const last = points.at(-1);
  if (last === undefined || x > last.x) return undefined;
  return points.findLast((point) => point.x <= x);
}
