/** 95 % of the standard normal distribution lie between minus and plus this. */
export const z95 = 1.959963984540054;

/** Wilson's score interval of a proportion (1927), at 95 %. */
export function wilsonInterval(
  successes: number,
  trials: number,
): { level: number; lower: number; upper: number } | null {
  return trials === 0 ? null : wilsonBounds(successes / trials, trials, z95);
}

/** Wilson's interval at 95 % of a rate in this many trials, which may be a fraction, with this critical value. */
export function wilsonBounds(
  rate: number,
  trials: number,
  critical: number,
): { level: number; lower: number; upper: number } {
  const square = critical * critical;
  // One cluster has nearly all values.
  if (!Number.isFinite(square)) return { level: 0.95, lower: 0, upper: 1 };
  const centre = rate + square / (2 * trials);
  const margin = critical * Math.sqrt((rate * (1 - rate)) / trials + square / (4 * trials * trials));
  const scale = 1 + square / trials;
  // Exact ends in spite of rounding.
  const lower = rate === 0 ? 0 : (centre - margin) / scale;
  const upper = rate === 1 ? 1 : (centre + margin) / scale;
  return { level: 0.95, lower, upper };
}
