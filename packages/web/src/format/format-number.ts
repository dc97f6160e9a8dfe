const whole = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** 12,345; a dash for what nobody counted. */
export function formatCount(count: number | null): string {
  return count === null ? "–" : whole.format(count);
}

/** 12.3K, for where space is limited; show the exact number nearby or on hover. */
export function formatShortCount(count: number | null): string {
  return count === null ? "–" : compact.format(count);
}

/** 84.5 % of a share from 0 to 1. */
export function formatShare(share: number | null): string {
  return share === null ? "–" : `${(share * 100).toFixed(share === 0 || share === 1 ? 0 : 1)} %`;
}

/** $12.35, or $0.00042: cents do not show what a few predictions cost. */
export function formatCost(cost: number | null, currency: string): string {
  if (cost === null) return "–";
  const isSmall = cost > 0 && cost < 0.01;
  const digits = isSmall ? { maximumSignificantDigits: 2 } : {};
  return new Intl.NumberFormat("en", { style: "currency", currency, ...digits }).format(cost);
}

/** 0.873 */
export function formatScore(score: number | null): string {
  return score === null ? "–" : score.toFixed(3).replace(/\.?0+$/, "");
}

/** 840 µs, 12.4 ms, 1.2 s */
export function formatDuration(milliseconds: number): string {
  // The limits are where rounding would reach the next unit or another digit.
  if (milliseconds < 0.9995) return `${Math.round(milliseconds * 1000)} µs`;
  if (milliseconds < 99.95) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
}
