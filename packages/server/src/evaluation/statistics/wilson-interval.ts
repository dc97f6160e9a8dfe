/** 95 % of the standard normal distribution lie between minus and plus this. */
export const z95 = 1.959963984540054;

/** Wilson's score interval of a proportion (1927), at 95 %. */
export function wilsonInterval(
  successes: number,
  trials: number,
): { level: number; lower: number; upper: number } | null {
  if (trials === 0) return null;
  const rate = successes / trials;
  const square = z95 * z95;
  const centre = rate + square / (2 * trials);
  const margin = z95 * Math.sqrt((rate * (1 - rate)) / trials + square / (4 * trials * trials));
  const scale = 1 + square / trials;
  // Exact ends in spite of rounding.
  const lower = successes === 0 ? 0 : (centre - margin) / scale;
  const upper = successes === trials ? 1 : (centre + margin) / scale;
  return { level: 0.95, lower, upper };
}
