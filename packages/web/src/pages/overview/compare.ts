/** How something moved against the stretch of time before. */
export interface Change {
  /** «↑ 12 %» */
  short: string;
  /** The same for those who cannot see arrows, and on hover. */
  long: string;
  /** Undefined: neither good nor bad, or too little to say. */
  isGood?: boolean;
}

interface Figures {
  current: number;
  before: number;
  /** Past values in words. */
  format(value: number): string;
  /** Whether more of it is good; absent, it is neither. */
  isMoreGood?: boolean;
}

/** Below this part of the value before, a change is noise. */
const noise = 0.005;
/** Latencies and the like go up and down by themselves: less than this is neither good nor bad. */
const worthColour = 0.1;

/** A change in parts of what was before. Undefined where there was nothing before. */
export function compareAmounts({ current, before, format, isMoreGood }: Figures): Change | undefined {
  if (before === 0) return undefined;
  const part = current / before - 1;
  const past = `${format(before)} in the time before`;
  if (Math.abs(part) < noise) return { short: "±0 %", long: `As much as before: ${past}` };
  const size = Math.abs(part) >= 10 ? `${Math.round(current / before)} times` : formatPart(Math.abs(part));
  const isMore = part > 0;
  return {
    short: `${isMore ? "↑" : "↓"} ${size}`,
    long: `${size} ${isMore ? "more" : "less"}; ${past}`,
    ...(isMoreGood !== undefined && Math.abs(part) >= worthColour && { isGood: isMore === isMoreGood }),
  };
}

interface Shares {
  current: number | null;
  before: number | null;
  format(value: number): string;
  isMoreGood: boolean;
  /** Where the two overlap, the change may be chance. */
  intervals?: readonly [Interval | null, Interval | null];
}

interface Interval {
  lower: number;
  upper: number;
}

/** A change of a share, in percentage points. */
export function compareShares({
  current,
  before,
  format,
  isMoreGood,
  intervals,
}: Shares): Change | undefined {
  if (current === null || before === null) return undefined;
  const points = Math.round((current - before) * 1000) / 10;
  const past = `${format(before)} in the time before`;
  if (points === 0) return { short: "±0 pt", long: `As before: ${past}` };
  const isMore = points > 0;
  const size = Math.abs(points).toFixed(1);
  const mayBeChance = intervals !== undefined && overlap(...intervals);
  return {
    short: `${isMore ? "↑" : "↓"} ${size} pt`,
    long: `${size} points ${isMore ? "higher" : "lower"}; ${past}${mayBeChance ? ". The intervals overlap: it may be chance" : ""}`,
    ...(!mayBeChance && { isGood: isMore === isMoreGood }),
  };
}

function overlap(one: Interval | null, other: Interval | null): boolean {
  return one === null || other === null || (one.lower <= other.upper && other.lower <= one.upper);
}

function formatPart(part: number): string {
  return `${part < 0.1 ? (part * 100).toFixed(1) : Math.round(part * 100)} %`;
}
