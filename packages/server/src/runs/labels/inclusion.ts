import type { Database } from "../../platform/storage/schema/tables.ts";
import { type LabelledVerdict, selectDrawnResults, selectDraws } from "../../results/labels/labels-store.ts";

/** How many verdicts of a kind there were, and with which probability one of them was drawn. */
export interface Stratum {
  /** Null: passes and fails together. */
  pass: boolean | null;
  count: number;
  probability: number;
}

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

/**
 * The weight of each labelled verdict that was drawn: the inverse of the probability that one of the draws took it. Undefined if none was
 * drawn.
 */
export async function weightsOf(
  reader: Database,
  accountId: string,
  labelled: readonly LabelledVerdict[],
  runId: string | undefined,
): Promise<Map<number, number> | undefined> {
  const drawn = await selectDrawnResults(reader, accountId, runId);
  const drawsOf = Map.groupBy(await selectDraws(reader, accountId, runId), populationOf);
  const known = new Map<string, number>();
  const weights = new Map<number, number>();
  for (const label of labelled) {
    if (!drawn.has(label.result_id)) continue;
    const isPass = label.verdict_pass === 1;
    // A client's result may name two runs: which one it was drawn from is known.
    const population = populationOf({ ...label, run_id: runId ?? label.run_id });
    const kind = `${isPass} ${population}`;
    const probability = known.get(kind) ?? probabilityIn(drawsOf.get(population) ?? [], isPass);
    known.set(kind, probability);
    if (probability > 0) weights.set(label.result_id, 1 / probability);
  }
  return weights.size === 0 ? undefined : weights;
}

function probabilityIn(draws: readonly { seed: unknown; strata: string }[], isPass: boolean): number {
  const read = draws.map(({ seed, strata }) => ({
    seed: Number(seed),
    strata: JSON.parse(strata) as Stratum[],
  }));
  return inclusionProbability(read, isPass);
}

/** The verdicts that one draws from: those of an evaluator in a run. */
function populationOf(of: Pick<LabelledVerdict, "run_id" | "evaluator_id" | "is_external" | "profile_name">) {
  return JSON.stringify([of.run_id, of.evaluator_id, of.is_external, of.profile_name]);
}
