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
  const half = (critical * critical) / (2 * trials);
  const margin = critical * Math.sqrt((rate * (1 - rate)) / trials + (critical / (2 * trials)) ** 2);
  // By the product of the equation's two roots: their difference may be rounded to less than 0 or more than 1.
  const lower = rate ** 2 / (rate + half + margin);
  const upper = 1 - (1 - rate) ** 2 / (1 - rate + half + margin);
  return { level: 0.95, lower, upper };
}
