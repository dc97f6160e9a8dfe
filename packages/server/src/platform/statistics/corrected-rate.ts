import {
  criticalValue,
  type Interval,
  jackknifeInterval,
  leaveOneOutError,
  rounding,
  whyNoInterval,
} from "./intervals.ts";

/** The verdicts of one trajectory. */
export interface LabelledCluster {
  /** The number of verdicts, and how many of them pass. */
  count: number;
  passes: number;
  /** Verdicts that are certainly right passes: they need no label, and are not among those above. */
  certain: number;
  labels: readonly { isPass: boolean; isLabelledPass: boolean; weight: number }[];
}

export interface CorrectedRate {
  passRate: number | null;
  interval: Interval | null;
  labels: number;
  /** How much the verdicts without labels count, from 0 to 1. */
  lambda: number;
  /** How many times as many labels would be needed without those verdicts. */
  gain: number | null;
  note: string | null;
}

/** Sums over verdicts. For labels, y is a person's pass, f the evaluator's, w the weight. */
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

/** Verdicts by trajectory. */
export interface LabelledVerdicts {
  clusters: ReadonlyMap<string, LabelledCluster>;
  /** Whether passes and fails were drawn separately: the verdicts without labels are then not a sample of all. */
  isByKind: boolean;
}

/**
 * The pass rate that people would give, from the evaluator's verdicts on all and people's labels on some: prediction-powered inference
 * (A. N. Angelopoulos et al., Science 382 (2023)) with the weight λ of PPI++ (arXiv 2311.01453), set once on all data. The standard
 * error leaves out one trajectory at a time; the interval has the effective number of labelled trajectories.
 */
export function correctedRate(verdicts: LabelledVerdicts): CorrectedRate {
  const estimate = estimateOf(verdicts);
  const { sums, all, how, passRate, labelled } = estimate;
  const made = { passRate, labels: all.labels, lambda: how.lambda };
  if (passRate === null) return { ...made, interval: null, gain: null, note: estimate.why };
  if (labelled < fewestLabelled)
    return { ...made, interval: null, gain: null, note: "Fewer than 6 trajectories have labels." };
  const error = leaveOneOutError(without(sums, all, how, rateOf));
  const ofLabels = leaveOneOutError(without(sums, all, { ...how, lambda: 0 }, rateOf));
  const gain = how.lambda === 0 ? 1 : error < rounding ? null : (ofLabels / error) ** 2;
  return { ...made, ...intervalOf(estimate, passRate, error), gain };
}

/**
 * The verdicts that are not certain have their own interval, which exists even if all labels are alike. Where the certain ones vary as a
 * share of all, the interval is widened by what that adds to the standard error.
 */
function intervalOf({ sums, all, how, effective }: Estimate, passRate: number, error: number) {
  const rests = without(sums, all, how, restOf);
  const { interval, why } = jackknifeInterval(clip(restOf(all, how)), rests, effective);
  if (interval === null) return { interval, note: whyNoInterval[why] };
  const ofRest = (all.count / (all.count + all.certain)) * leaveOneOutError(rests);
  const added = criticalValue(effective) * Math.sqrt(Math.max(0, error ** 2 - ofRest ** 2));
  const lower = passRate - Math.hypot(passRate - withCertain(all, interval.lower), added);
  const upper = passRate + Math.hypot(withCertain(all, interval.upper) - passRate, added);
  return { interval: { ...interval, lower: clip(lower), upper: clip(upper) }, note: null };
}

/**
 * The difference of the corrected rates of two runs, candidate − reference. The standard error leaves out one trajectory at a time in both;
 * the interval has the effective number of labelled trajectories of the run that has fewer.
 */
export function correctedDifference(
  reference: LabelledVerdicts,
  candidate: LabelledVerdicts,
): { difference: number | null; interval: Interval | null; note: string | null } {
  const [one, other] = [estimateOf(reference), estimateOf(candidate)];
  if (one.passRate === null || other.passRate === null)
    return { difference: null, interval: null, note: `For one of the runs: ${one.why ?? other.why}` };
  const difference = other.passRate - one.passRate;
  const noInterval = (note: string) => ({ difference, interval: null, note });
  if (Math.min(one.labelled, other.labelled) < fewestLabelled)
    return noInterval("Fewer than 6 trajectories have labels in one of the runs.");
  if ([one, other].some(({ sums, all, how }) => leaveOneOutError(without(sums, all, how, restOf)) < rounding))
    return noInterval(
      "All labelled trajectories of one of the runs are alike, which does not show how far others would differ.",
    );
  const rateWithout = ({ all, how }: Estimate, left: LabelledCluster | undefined) =>
    rateOf(left === undefined ? all : combine({ ...all }, sumsOf(left), -1), how);
  const names = [...new Set([...reference.clusters.keys(), ...candidate.clusters.keys()])];
  const differences = Float64Array.from(
    names,
    (name) =>
      rateWithout(other, candidate.clusters.get(name)) - rateWithout(one, reference.clusters.get(name)),
  );
  const effective = Math.min(one.effective, other.effective);
  const { interval, why } = jackknifeInterval(difference, differences, effective, -1);
  return { difference, interval, note: why && whyNoInterval[why] };
}

type How = { lambda: number; isByKind: boolean };

type Estimate = {
  sums: readonly Sums[];
  all: Sums;
  how: How;
  /** How many trajectories have labels. */
  labelled: number;
  /** The number of equally labelled trajectories that would weigh as much. */
  effective: number;
} & ({ passRate: number; why: null } | { passRate: null; why: string });

function estimateOf({ clusters, isByKind }: LabelledVerdicts): Estimate {
  const sums = [...clusters.values()].map(sumsOf);
  const all = sums.reduce((sum, one) => combine(sum, one, 1), noSums());
  const how = { lambda: lambdaOf(all), isByKind };
  const labelled = sums.filter(({ labels }) => labels > 0);
  const effective = all.labels ** 2 / labelled.reduce((sum, { labels }) => sum + labels ** 2, 0);
  const made = { sums, all, how, labelled: labelled.length, effective };
  const why = whyNoRate(all, isByKind);
  if (why !== null) return { ...made, passRate: null, why };
  return { ...made, passRate: withCertain(all, clip(restOf(all, how))), why };
}

function whyNoRate({ labels, f, passes, count }: Sums, isByKind: boolean): string | null {
  if (labels === 0) return "There is no labelled verdict that most people pass or fail.";
  if (isByKind && f === 0 && passes > 0) return "No verdict that passes has a label.";
  if (isByKind && f === labels && passes < count) return "No verdict that fails has a label.";
  return null;
}

/** A rate without each trajectory in turn. */
function without(of: readonly Sums[], from: Sums, how: How, rate: typeof rateOf): Float64Array {
  return Float64Array.from(of, (one) => rate(combine({ ...from }, one, -1), how));
}

const clip = (rate: number) => Math.min(1, Math.max(0, rate));
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

/** Adds to `sum`, or subtracts from it. */
function combine(sum: Sums, one: Sums, sign: 1 | -1): Sums {
  for (const name of Object.keys(one) as (keyof Sums)[]) sum[name] += sign * one[name];
  return sum;
}

/**
 * θ = λ f̄ of the verdicts without labels + the labels' weighted mean of y − λ f. Where one kind was drawn more often than the other,
 * the verdicts without labels are not a sample of all, and f̄ is of all.
 */
function restOf({ count, passes, labels, f, w, wy, wf }: Sums, { lambda, isByKind }: How): number {
  const others = isByKind ? count : count - labels;
  const passed = isByKind ? passes : passes - f;
  return others === 0 ? wy / w : (lambda * passed) / others + (wy - lambda * wf) / w;
}

/** Includes the certain passes. */
function rateOf(sums: Sums, how: How): number {
  return withCertain(sums, restOf(sums, how));
}

function withCertain({ count, certain }: Sums, rest: number): number {
  return (certain + count * rest) / (certain + count);
}

function lambdaOf({ count, passes, labels, y, f, yf }: Sums): number {
  const unlabelled = count - labels;
  const variance = (passes * (1 - passes / count)) / (count - 1);
  if (labels === 0 || unlabelled === 0 || !(variance > 0)) return 0;
  const covariance = yf / labels - (y / labels) * (f / labels);
  return Math.min(1, Math.max(0, covariance / ((1 + labels / unlabelled) * variance)));
}
