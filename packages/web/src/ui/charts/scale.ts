export type Range = readonly [from: number, to: number];

/** Maps a domain to pixels. A domain of one value is mapped to the middle. */
export function linearScale([lower, upper]: Range, [from, to]: Range): (value: number) => number {
  if (lower === upper) return () => (from + to) / 2;
  return (value) => from + ((value - lower) / (upper - lower)) * (to - from);
}

const niceFactors = [1, 2, 5, 10];

/** Round values inside a domain, about `wanted` of them. */
export function niceTicks([lower, upper]: Range, wanted: number, isWhole = false): number[] {
  if (lower === upper) return [lower];
  const step = niceStep(upper - lower, wanted, isWhole);
  const first = Math.ceil(lower / step - 1e-9);
  const last = Math.floor(upper / step + 1e-9);
  // Otherwise 0.3 would become 0.30000000000000004.
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/** The upper end of an axis from 0: the lowest tick that no value exceeds. */
export function niceEnd(highest: number, wanted: number, isWhole = false): number {
  if (highest <= 0) return 1;
  const step = niceStep(highest, wanted, isWhole);
  return Number((Math.ceil(highest / step - 1e-9) * step).toPrecision(12));
}

function niceStep(length: number, wanted: number, isWhole: boolean): number {
  const rough = length / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = power * (niceFactors.find((factor) => factor * power >= rough * 0.999) ?? 10);
  return isWhole ? Math.max(1, Math.round(nice)) : nice;
}

/** The smallest domain with all values and 0, with a little extra at ends other than 0. */
export function domainWithZero(values: Iterable<number>): Range {
  let lower = 0;
  let upper = 0;
  for (const value of values) {
    lower = Math.min(lower, value);
    upper = Math.max(upper, value);
  }
  if (lower === upper) return [-1, 1];
  const margin = (upper - lower) * 0.04;
  return [lower === 0 ? 0 : lower - margin, upper === 0 ? 0 : upper + margin];
}
