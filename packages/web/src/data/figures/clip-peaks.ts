/** A value this many times the usual one would flatten all others. */
const flattening = 4;
const fewest = 3;

/**
 * Where an axis should end so that few huge values, such as one large import, do not flatten the rest: undefined if none is huge. The
 * usual value is the 80th percentile of those above 0. Clipping, unlike a logarithm, leaves 0 where it is and halves half as high.
 */
export function clipPeaks(values: readonly number[]): number | undefined {
  const sorted = values.filter((value) => value > 0).sort((a, b) => a - b);
  if (sorted.length < fewest) return undefined;
  const usual = sorted[Math.floor((sorted.length - 1) * 0.8)] ?? 0;
  const greatest = sorted.at(-1) ?? 0;
  if (greatest <= usual * flattening) return undefined;
  const highest = sorted.findLast((value) => value <= usual * flattening) ?? usual;
  return roundUp(highest * 1.25);
}

/** To a number with one digit that is not 0, or 1.5, 2.5 of it: an axis that ends with a round number. */
function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value));
  const step = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((times) => times * unit >= value) ?? 10;
  return step * unit;
}
