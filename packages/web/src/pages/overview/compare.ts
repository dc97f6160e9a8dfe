/** A change from the previous period. */
export interface Change {
  /** “↑ 12 %” */
  short: string;
  /** The same in words, for screen readers and on hover. */
  long: string;
  /** Undefined: neither good nor bad, or too small a change. */
  isGood?: boolean | undefined;
}

interface Amounts {
  current: number;
  before: number;
  format(value: number): string;
  /** Absent: more is neither good nor bad. */
  isMoreGood?: boolean;
}

/** Smaller relative changes are shown as none. */
const minChange = 0.005;
/** Latencies vary by themselves: smaller relative changes are not rated. */
const minRatedChange = 0.1;

/** The relative change. Undefined if there was nothing before. */
export function compareAmounts({ current, before, format, isMoreGood }: Amounts): Change | undefined {
  if (before === 0) return undefined;
  const part = current / before - 1;
  const past = `the previous period (${format(before)})`;
  if (Math.abs(part) < minChange) return { short: "±0 %", long: `Same as ${past}` };
  const isMore = part > 0;
  const size = part >= 10 ? `${Math.round(current / before)}-fold` : formatPart(Math.abs(part));
  return {
    short: `${isMore ? "↑" : "↓"} ${size}`,
    long: `${size} ${isMore ? "more" : "less"} than ${past}`,
    isGood: isMoreGood === undefined || Math.abs(part) < minRatedChange ? undefined : isMore === isMoreGood,
  };
}

export interface Ratio {
  part: number;
  whole: number;
}

interface Ratios {
  current: Ratio;
  before: Ratio;
  format(share: number): string;
  isMoreGood: boolean;
}

/** The change of a share, in percentage points. Undefined if one of them is a share of 0. */
export function compareRatios({ current, before, format, isMoreGood }: Ratios): Change | undefined {
  if (current.whole === 0 || before.whole === 0) return undefined;
  const earlier = before.part / before.whole;
  const points = Math.round((current.part / current.whole - earlier) * 1000) / 10;
  const past = `the previous period (${format(earlier)})`;
  if (points === 0) return { short: "±0 pt", long: `Same as ${past}` };
  const isMore = points > 0;
  const size = Math.abs(points).toFixed(1);
  const isChance = mayBeChance(current, before);
  return {
    short: `${isMore ? "↑" : "↓"} ${size} pt`,
    long: `${size} points ${isMore ? "higher" : "lower"} than ${past}${isChance ? ", which may be chance" : ""}`,
    isGood: isChance ? undefined : isMore === isMoreGood,
  };
}

/** 95 % of the standard normal distribution lies within ± this. */
const z95 = 1.96;

/** Two-proportion z-test with pooled variance. */
function mayBeChance(one: Ratio, other: Ratio): boolean {
  const pooled = (one.part + other.part) / (one.whole + other.whole);
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / one.whole + 1 / other.whole));
  return Math.abs(one.part / one.whole - other.part / other.whole) <= z95 * deviation;
}

function formatPart(part: number): string {
  return `${part < 0.1 ? (part * 100).toFixed(1) : Math.round(part * 100)} %`;
}
