/** How something moved against the stretch of time before. */
export interface Change {
  /** «↑ 12 %» */
  short: string;
  /** The same for those who cannot see arrows, and on hover. */
  long: string;
  /** Undefined: neither good nor bad, or too little to say. */
  isGood?: boolean;
}

interface Amounts {
  current: number;
  before: number;
  format(value: number): string;
  /** Absent: more is neither good nor bad. */
  isMoreGood?: boolean;
}

/** Below this part of what was before, nothing is said to have moved. */
const still = 0.005;
/** Latencies go up and down by themselves: less than this is neither good nor bad. */
const worthColour = 0.1;

/** A change as a part of what was before. Undefined where there was nothing before. */
export function compareAmounts({ current, before, format, isMoreGood }: Amounts): Change | undefined {
  if (before === 0) return undefined;
  const part = current / before - 1;
  const past = `${format(before)} in the time before`;
  if (Math.abs(part) < still) return { short: "±0 %", long: `As much as before: ${past}` };
  const isMore = part > 0;
  const size = part >= 10 ? `${Math.round(current / before)}-fold` : formatPart(Math.abs(part));
  return {
    short: `${isMore ? "↑" : "↓"} ${size}`,
    long: `${size} ${isMore ? "more" : "less"}: ${past}`,
    ...(isMoreGood !== undefined && Math.abs(part) >= worthColour && { isGood: isMore === isMoreGood }),
  };
}

/** How many of how many. */
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

/** A change of a share, in percentage points. Undefined where one of the two has nothing to be a share of. */
export function compareRatios({ current, before, format, isMoreGood }: Ratios): Change | undefined {
  if (current.whole === 0 || before.whole === 0) return undefined;
  const earlier = before.part / before.whole;
  const points = Math.round((current.part / current.whole - earlier) * 1000) / 10;
  const past = `${format(earlier)} in the time before`;
  if (points === 0) return { short: "±0 pt", long: `As before: ${past}` };
  const isMore = points > 0;
  const size = Math.abs(points).toFixed(1);
  const isChance = mayBeChance(current, before);
  return {
    short: `${isMore ? "↑" : "↓"} ${size} pt`,
    long: `${size} points ${isMore ? "higher" : "lower"}: ${past}${isChance ? ". It may be chance" : ""}`,
    ...(!isChance && { isGood: isMore === isMoreGood }),
  };
}

/** Of the standard normal distribution, at 95 % between minus and plus this. */
const z95 = 1.96;

/** Whether two shares differ no more than chance lets them: the test of two proportions with their pooled variance. */
function mayBeChance(one: Ratio, other: Ratio): boolean {
  const pooled = (one.part + other.part) / (one.whole + other.whole);
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / one.whole + 1 / other.whole));
  return Math.abs(one.part / one.whole - other.part / other.whole) <= z95 * deviation;
}

function formatPart(part: number): string {
  return `${part < 0.1 ? (part * 100).toFixed(1) : Math.round(part * 100)} %`;
}
