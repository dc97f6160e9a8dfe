import type { Stratum } from "./label-samples.ts";

/** A draw of verdicts to be labelled. */
interface Draw {
  seed: number;
  strata: readonly Stratum[];
}

/** The probability that one of the draws took a verdict of this kind. Seeds are independent of each other. */
export function inclusionProbability(draws: readonly Draw[], isPass: boolean): number {
  const bySeed = Map.groupBy(draws, ({ seed }) => seed);
  return 1 - [...bySeed.values()].reduce((missed, some) => missed * (1 - inclusionOfSeed(some, isPass)), 1);
}

/**
 * Draws of one seed take from one order: of the verdicts of a kind, the first h, or of all verdicts the first n, among which K are of
 * the kind. So of the kind's N they take max(K, h), and K is hypergeometric.
 */
function inclusionOfSeed(draws: readonly Draw[], isPass: boolean): number {
  const strata = draws.flatMap((draw) => draw.strata);
  const ofKind = largest(strata.filter(({ pass }) => pass === isPass));
  const ofAll = largest(strata.filter(({ pass }) => pass === null));
  const others = largest(strata.filter(({ pass }) => pass === !isPass));
  if (ofKind.count === 0) return ofAll.probability;
  const drawn = Math.min(ofAll.taken, ofKind.count + others.count);
  const least = ofKind.taken;
  return meanOfLarger({ drawn, ofKind: ofKind.count, others: others.count }, least) / ofKind.count;
}

/** Later draws have the same verdicts, or fewer if some were deleted. */
function largest(strata: readonly Stratum[]): Omit<Stratum, "pass"> & { taken: number } {
  const found = strata.reduce<Stratum | undefined>(
    (most, one) => (most === undefined || one.probability > most.probability ? one : most),
    undefined,
  );
  const { count = 0, probability = 0 } = found ?? {};
  return { count, probability, taken: Math.round(probability * count) };
}

/** The mean of max(K, least), K being how many of a kind are among those drawn. */
function meanOfLarger(
  { drawn, ofKind, others }: { drawn: number; ofKind: number; others: number },
  least: number,
): number {
  const lowest = Math.max(0, drawn - others);
  const highest = Math.min(drawn, ofKind);
  // P(K = k + 1) / P(K = k)
  const ratio = (k: number) => ((ofKind - k) * (drawn - k)) / ((k + 1) * (others - drawn + k + 1));
  // From the mode, so that nothing overflows.
  const mode = Math.min(
    highest,
    Math.max(lowest, Math.floor(((drawn + 1) * (ofKind + 1)) / (ofKind + others + 2))),
  );
  let total = 1;
  let sum = Math.max(mode, least);
  const add = (k: number, weight: number) => {
    total += weight;
    sum += weight * Math.max(k, least);
    return weight;
  };
  let weight = 1;
  for (let k = mode; k < highest && weight > 0; k++) weight = add(k + 1, weight * ratio(k));
  weight = 1;
  for (let k = mode; k > lowest && weight > 0; k--) weight = add(k - 1, weight / ratio(k - 1));
  return sum / total;
}
