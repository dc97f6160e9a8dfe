import type { ComparisonCandidate, CorrectedRate, RunReport } from "@presage/contract";
import { familyOf, formatPoints } from "@presage/contract/describe-runs";
import {
  correctedDifference,
  correctedRate,
  type LabelledCluster,
} from "../../platform/statistics/corrected-rate.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { countOf, wholePercent } from "../../platform/words.ts";
import {
  type LabelledVerdict,
  selectDrawable,
  selectDrawnResults,
  selectDraws,
  selectLabelledVerdicts,
  storedEvaluator,
} from "../../results/labels/labels-store.ts";
import { isClientRun, type Run } from "../run.ts";

type Evaluators = RunReport["evaluators"];
type Labelled = Pick<Evaluators[number], "evaluator" | "profile_name">;
type Cluster = LabelledCluster & { labels: LabelledCluster["labels"][number][] };

/** Evaluators with the pass rate that people would give, if some of their verdicts are labelled. */
export async function withCorrected(reader: Database, run: Run, evaluators: Evaluators): Promise<Evaluators> {
  const all: Evaluators = [];
  for (const evaluator of evaluators) {
    const corrected = await correctedOf(reader, run, evaluator);
    all.push(corrected === undefined ? evaluator : { ...evaluator, corrected });
  }
  return all;
}

const notDrawn = "The labelled verdicts were not drawn: it may be about them alone.";

/** How far each run's corrected rate is from the first one's, by run id, if both have labels. */
export async function correctedDifferences(
  reader: Database,
  [reference, ...candidates]: readonly [Run, ...Run[]],
  evaluator: Labelled,
): Promise<Map<string, ComparisonCandidate["corrected"]>> {
  const found = new Map<string, ComparisonCandidate["corrected"]>();
  const one = await readLabelled(reader, reference, evaluator);
  if (one === undefined) return found;
  for (const run of candidates) {
    const other = await readLabelled(reader, run, evaluator);
    if (other === undefined) continue;
    const { note, ...of } = correctedDifference(one, other);
    const notes = [note, one.drawn && other.drawn ? null : notDrawn];
    const difference = {
      ...of,
      raw: other.raw - one.raw,
      labels: { reference: one.labels, candidate: other.labels },
      note: notes.filter(Boolean).join(" ") || null,
    };
    found.set(run.id, { ...difference, sentence: describeDifference(difference) });
  }
  return found;
}

async function correctedOf(
  reader: Database,
  run: Run,
  of: Evaluators[number],
): Promise<CorrectedRate | undefined> {
  const found = await readLabelled(reader, run, of);
  if (found === undefined) return undefined;
  const { raw, drawn } = found;
  const { passRate: pass_rate, note, ...figures } = correctedRate(found);
  const notes = [note, drawn ? null : notDrawn];
  const rate = { pass_rate, ...figures, drawn, raw, note: notes.filter(Boolean).join(" ") || null };
  return { ...rate, sentence: describeCorrected(of.evaluator, rate) };
}

/** The evaluator's and people's verdicts on a run, by trajectory; undefined if nobody has labelled it. */
async function readLabelled(reader: Database, run: Run, { evaluator, profile_name: profileName }: Labelled) {
  const accountId = run.account_id;
  const of = { runId: run.id, ...storedEvaluator(evaluator), profileName };
  const labelled = await selectLabelledVerdicts(reader, accountId, of);
  if (labelled.length === 0) return undefined;
  const drawn = await weightsOf(reader, accountId, labelled, run.id);
  const labels = majorities(labelled, drawn?.weights);
  const clusters = new Map<string, Cluster>();
  let [count, passes] = [0, 0];
  for await (const rows of selectDrawable(reader, accountId, { ...of, isOfClient: isClientRun(run) })) {
    for (const { id, pass, is_equal, cluster_id } of rows) {
      const name = cluster_id ?? `result ${id}`;
      const cluster = clusters.get(name) ?? { count: 0, passes: 0, certain: 0, labels: [] };
      clusters.set(name, cluster);
      count += 1;
      passes += Number(pass);
      // Draws leave these out: an output that equals its gold answer is right.
      if (Number(is_equal) === 1) {
        cluster.certain += 1;
        continue;
      }
      cluster.count += 1;
      cluster.passes += Number(pass);
      const label = labels.get(Number(id));
      if (label !== undefined) cluster.labels.push({ isPass: Number(pass) === 1, ...label });
    }
  }
  const raw = count === 0 ? 0 : passes / count;
  const isByKind = drawn?.isByKind ?? false;
  return { clusters, isByKind, raw, drawn: drawn !== undefined, labels: labelsIn(clusters) };
}

function labelsIn(clusters: ReadonlyMap<string, Cluster>): number {
  return [...clusters.values()].reduce((sum, { labels }) => sum + labels.length, 0);
}

/** The majority of people's labels on each labelled verdict, and its weight. */
function majorities(labelled: readonly LabelledVerdict[], weights: Map<number, number> | undefined) {
  const found = new Map<number, { isLabelledPass: boolean; weight: number }>();
  for (const [id, labels] of Map.groupBy(labelled, ({ result_id }) => Number(result_id))) {
    const weight = weights === undefined ? 1 : weights.get(labels[0]?.result_id ?? 0);
    const passes = labels.filter(({ label_pass }) => label_pass === 1).length;
    const fails = labels.length - passes;
    if (weight !== undefined && passes !== fails) found.set(id, { isLabelledPass: passes > fails, weight });
  }
  return found;
}

/** For example: The judge says 84 %. Corrected by 120 human labels it is 76 % (69 to 83 %). */
function describeCorrected(
  evaluator: string,
  { pass_rate: rate, interval, raw, labels }: Omit<CorrectedRate, "sentence">,
): string {
  const says = `${familyOf(evaluator)} says ${wholePercent(raw)}.`;
  // A rate from few trajectories has no interval to show how uncertain it is.
  if (rate === null || interval === null) return says;
  const range = `${Math.round(100 * interval.lower)} to ${wholePercent(interval.upper)}`;
  return `${says} Corrected by ${countOf(labels, "human label")} it is ${wholePercent(rate)} (${range}).`;
}

/** The difference by labels and the raw one, with the number of labels of both runs. */
function describeDifference({
  difference,
  interval,
  raw,
  labels: { reference, candidate },
}: Omit<NonNullable<ComparisonCandidate["corrected"]>, "sentence">): string {
  const range =
    interval && `95 % interval ${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}`;
  const figures =
    difference === null ? "not known" : `${formatPoints(difference)} points, ${range ?? "no interval"}`;
  return `Corrected by ${reference} human labels of the reference and ${candidate} of the other run, the difference of the whole runs' pass rates is ${figures}; without labels it is ${formatPoints(raw)}.`;
}

/** The number of verdicts of a kind, and the probability with which each of them was drawn. */
export interface Stratum {
  /** Null for passes and fails together. */
  pass: boolean | null;
  count: number;
  probability: number;
}

/** A draw of verdicts to be labelled. */
interface Draw {
  seed: number;
  strata: readonly Stratum[];
}

/**
 * The weight of each labelled verdict that was drawn: the inverse of the probability that one of the draws took it. Undefined if
 * none was drawn. `isByKind`: whether one of the draws took passes and fails separately.
 */
export async function weightsOf(
  reader: Database,
  accountId: string,
  labelled: readonly LabelledVerdict[],
  runId: string | undefined,
): Promise<{ weights: Map<number, number>; isByKind: boolean } | undefined> {
  const drawn = await selectDrawnResults(reader, accountId, runId);
  const drawsOf = Map.groupBy(await selectDraws(reader, accountId, runId), populationOf);
  const known = new Map<string, number>();
  const weights = new Map<number, number>();
  for (const label of labelled) {
    if (!drawn.has(label.result_id)) continue;
    const isPass = label.verdict_pass === 1;
    // A client's result may name two runs; the run that it was drawn from is known.
    const population = populationOf({ ...label, run_id: runId ?? label.run_id });
    const kind = `${isPass} ${population}`;
    const probability = known.get(kind) ?? probabilityIn(drawsOf.get(population) ?? [], isPass);
    known.set(kind, probability);
    if (probability > 0) weights.set(label.result_id, 1 / probability);
  }
  if (weights.size === 0) return undefined;
  const populations = new Set(
    labelled.map((label) => populationOf({ ...label, run_id: runId ?? label.run_id })),
  );
  const draws = [...populations].flatMap((population) => drawsOf.get(population) ?? []);
  return { weights, isByKind: draws.flatMap(strataOf).some(({ pass }) => pass !== null) };
}

const strataOf = ({ strata }: { strata: string }) => JSON.parse(strata) as Stratum[];

function probabilityIn(draws: readonly { seed: unknown; strata: string }[], isPass: boolean): number {
  const read = draws.map(({ seed, strata }) => ({
    seed: Number(seed),
    strata: strataOf({ strata }),
  }));
  return inclusionProbability(read, isPass);
}

/** The verdicts that a draw takes from: those of an evaluator in a run. */
function populationOf(of: Pick<LabelledVerdict, "run_id" | "evaluator_id" | "is_external" | "profile_name">) {
  return JSON.stringify([of.run_id, of.evaluator_id, of.is_external, of.profile_name]);
}

/** The probability that one of the draws took a verdict of this kind. Seeds are independent of each other. */
export function inclusionProbability(draws: readonly Draw[], isPass: boolean): number {
  const bySeed = Map.groupBy(draws, ({ seed }) => seed);
  return 1 - [...bySeed.values()].reduce((missed, some) => missed * (1 - inclusionOfSeed(some, isPass)), 1);
}

/**
 * Draws with one seed take from one order: of the verdicts of a kind the first h, or of all verdicts the first n, among which K are
 * of the kind. So of the N of this kind they take max(K, h), and K is hypergeometric.
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

/** The mean of max(K, least), where K is how many of a kind are among those drawn. */
function meanOfLarger(
  { drawn, ofKind, others }: { drawn: number; ofKind: number; others: number },
  least: number,
): number {
  const lowest = Math.max(0, drawn - others);
  const highest = Math.min(drawn, ofKind);
  // P(K = k + 1) / P(K = k)
  const ratio = (k: number) => ((ofKind - k) * (drawn - k)) / ((k + 1) * (others - drawn + k + 1));
  // Starts at the mode, so that nothing overflows.
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
