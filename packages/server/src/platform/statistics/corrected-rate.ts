import { type Interval, jackknifeInterval, leaveOneOutError, rounding, whyNoInterval } from "./intervals.ts";

/** The verdicts of one trajectory. */
export interface LabelledCluster {
  /** How many verdicts there are, and how many of them pass. */
  count: number;
  passes: number;
  /** Verdicts that are certainly right passes: no label is needed of them, and they are not among those above. */
  certain: number;
  labels: readonly { isPass: boolean; isLabelledPass: boolean; weight: number }[];
}

export interface CorrectedRate {
  passRate: number | null;
  interval: Interval | null;
  labels: number;
  /** How much the verdicts without labels count, from 0 to 1. */
  lambda: number;
  /** How many times as many labels would be needed without them. */
  gain: number | null;
  note: string | null;
}

/** Sums over verdicts. Those of labels: y is a person's pass, f the evaluator's, w the weight. */
interface Sums {
  count: number;
  passes: number;
  certain: number;
  labels: number;
  y: number;
  f: number;
  yf: number;
  w: number;
  wy: number;
  wf: number;
}

const fewestLabelled = 6;

/**
 * The pass rate that people would give, from the evaluator's verdicts on all and people's labels on some: prediction-powered inference
 * (A. N. Angelopoulos et al., Science 382 (2023)) with the weight λ of PPI++ (arXiv 2311.01453), set once on all data. The standard
 * error leaves out one trajectory at a time, of the whole figure; the interval has the effective number of labelled ones.
 */
export function correctedRate(clusters: readonly LabelledCluster[]): CorrectedRate {
  const { sums, all, how, passRate, labelled, effective } = estimateOf(clusters);
  if (passRate === null) return { ...none, note: "There are no labels." };
  const made = { passRate, labels: all.labels, lambda: how.lambda };
  if (labelled.length < fewestLabelled)
    return { ...made, interval: null, gain: null, note: "Fewer than 6 trajectories have labels." };
  const rates = without(sums, all, how);
  const { interval, why } = jackknifeInterval(passRate, rates, effective);
  const error = leaveOneOutError(rates);
  const labelledAlone = labelled.reduce((sum, one) => combine(sum, one, 1), noSums());
  const ofLabels = leaveOneOutError(without(labelled, labelledAlone, { ...how, lambda: 0 }));
  const gain = error < rounding ? null : (ofLabels / error) ** 2;
  return { ...made, interval, gain, note: why && whyNoInterval[why] };
}

/** By trajectory. */
export type LabelledClusters = ReadonlyMap<string, LabelledCluster>;

/**
 * How far the corrected rates of two runs are apart, candidate − reference. The standard error leaves out one trajectory at a time in both;
 * the interval has the effective number of labelled trajectories of the run that has fewer.
 */
export function correctedDifference(
  reference: LabelledClusters,
  candidate: LabelledClusters,
): { difference: number | null; interval: Interval | null; note: string | null } {
  const [one, other] = [estimateOf([...reference.values()]), estimateOf([...candidate.values()])];
  if (one.passRate === null || other.passRate === null)
    return { difference: null, interval: null, note: "One of the runs has no labels." };
  const difference = other.passRate - one.passRate;
  if (Math.min(one.labelled.length, other.labelled.length) < fewestLabelled)
    return {
      difference,
      interval: null,
      note: "Fewer than 6 trajectories have labels in one of the runs.",
    };
  const rateWithout = ({ all, how }: Estimate, left: LabelledCluster | undefined) =>
    rateOf(left === undefined ? all : combine({ ...all }, sumsOf(left), -1), how);
  const names = [...new Set([...reference.keys(), ...candidate.keys()])];
  const differences = Float64Array.from(
    names,
    (name) => rateWithout(other, candidate.get(name)) - rateWithout(one, reference.get(name)),
  );
  const effective = Math.min(one.effective, other.effective);
  const { interval, why } = jackknifeInterval(difference, differences, effective, -1);
  return { difference, interval, note: why && whyNoInterval[why] };
}

interface Estimate {
  sums: readonly Sums[];
  all: Sums;
  how: { lambda: number; isWeighted: boolean };
  /** Null without labels. */
  passRate: number | null;
  labelled: readonly Sums[];
  /** How many equally labelled trajectories would weigh as much. */
  effective: number;
}

function estimateOf(clusters: readonly LabelledCluster[]): Estimate {
  const sums = clusters.map(sumsOf);
  const all = sums.reduce((sum, one) => combine(sum, one, 1), noSums());
  const weights = new Set(clusters.flatMap((one) => one.labels.map(({ weight }) => weight)));
  const how = { lambda: lambdaOf(all), isWeighted: weights.size > 1 };
  const labelled = sums.filter(({ labels }) => labels > 0);
  const effective = all.labels ** 2 / labelled.reduce((sum, { labels }) => sum + labels ** 2, 0);
  const passRate = all.labels === 0 ? null : Math.min(1, Math.max(0, rateOf(all, how)));
  return { sums, all, how, passRate, labelled, effective };
}

/** The rate without each of the trajectories. */
function without(of: readonly Sums[], from: Sums, how: Estimate["how"]): Float64Array {
  return Float64Array.from(of, (one) => rateOf(combine({ ...from }, one, -1), how));
}

const none = { passRate: null, interval: null, labels: 0, lambda: 0, gain: null };
const noVerdicts = { count: 0, passes: 0, certain: 0, labels: 0 };
const noSums = (): Sums => ({ ...noVerdicts, y: 0, f: 0, yf: 0, w: 0, wy: 0, wf: 0 });

function sumsOf({ count, passes, certain, labels }: LabelledCluster): Sums {
  const sums = { ...noSums(), count, passes, certain };
  for (const { isPass, isLabelledPass, weight } of labels) {
    const [f, y] = [Number(isPass), Number(isLabelledPass)];
    const ofLabel = { y, f, yf: y * f, w: weight, wy: weight * y, wf: weight * f };
    combine(sums, { ...noVerdicts, labels: 1, ...ofLabel }, 1);
  }
  return sums;
}

/** Adds to `sum`, or takes out of it. */
function combine(sum: Sums, one: Sums, sign: 1 | -1): Sums {
  for (const name of Object.keys(one) as (keyof Sums)[]) sum[name] += sign * one[name];
  return sum;
}

/**
 * θ = λ f̄ of those without labels + the labels' weighted mean of y − λ f; those that are certain beside it. Where one kind was drawn
 * more often than the other, those without labels are no sample of all, and f̄ is of all.
 */
function rateOf(
  { count, passes, certain, labels, f, w, wy, wf }: Sums,
  { lambda, isWeighted }: { lambda: number; isWeighted: boolean },
): number {
  const others = isWeighted ? count : count - labels;
  const passed = isWeighted ? passes : passes - f;
  const rest = others === 0 ? wy / w : (lambda * passed) / others + (wy - lambda * wf) / w;
  return (certain + count * rest) / (certain + count);
}

function lambdaOf({ count, passes, labels, y, f, yf }: Sums): number {
  const unlabelled = count - labels;
  const variance = (passes * (1 - passes / count)) / (count - 1);
  if (labels === 0 || unlabelled === 0 || !(variance > 0)) return 0;
  const covariance = yf / labels - (y / labels) * (f / labels);
  return Math.min(1, Math.max(0, covariance / ((1 + labels / unlabelled) * variance)));
}
