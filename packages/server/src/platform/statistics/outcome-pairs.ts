import {
  type AgreementFigure,
  cohenKappa,
  createPairs,
  type PairCluster,
  type PairTable,
  pairCoefficient,
  shareFigure,
  sumOf,
} from "./agreement/agreement.ts";
import { overallSigns, pairedDifference } from "./differences.ts";
import { effectiveClusters, momentsOfClusters, tQuantile } from "./intervals.ts";

/** How one episode ended in simulation, and in the real environment. */
export interface OutcomePair {
  task: string;
  policy: string | null;
  simulated: boolean;
  real: boolean;
  /** How its simulated actions ended when they were sent to the real environment, where `real` is of acting there. */
  replayed?: boolean | undefined;
}

/** A figure of episodes, clustered by their tasks. */
export interface PairFigure {
  value: number | null;
  interval: { level: number; lower: number; upper: number } | null;
  count: number;
  tasks: number;
  effective_tasks: number | null;
  /** Why there is no value, or no interval. */
  note: string | null;
}

export interface PairFigures {
  counts: PairTable;
  false_success_rate: PairFigure;
  missed_success_rate: PairFigure;
  agreement: PairFigure;
  /** Simulated less real success rate. */
  bias: PairFigure;
  phi: PairFigure;
  cohen_kappa: PairFigure;
}

const fewestTasks = 6;
const tooFew = "Too few tasks: an interval takes 6.";
const noEpisodes = "There are no episodes.";
const alwaysTheSame = "One of the two outcomes is always the same.";
const undefinedWithout = "Without one of the tasks, the figure is not defined.";
const cells = ["bothPass", "onlyFirst", "onlySecond", "bothFail"] as const;

/** The 2×2 of simulated and real success. */
export async function pairFigures(pairs: readonly OutcomePair[]): Promise<PairFigures> {
  const clusters = clustersOf(pairs);
  return {
    counts: sumOf(clusters.map(({ counts }) => counts)),
    false_success_rate: share(
      clusters,
      { hit: ["onlyFirst"], of: ["onlyFirst", "bothPass"] },
      "No episode succeeded in simulation.",
    ),
    missed_success_rate: share(
      clusters,
      { hit: ["onlySecond"], of: ["onlySecond", "bothFail"] },
      "No episode failed in simulation.",
    ),
    agreement: share(clusters, { hit: ["bothPass", "bothFail"], of: cells }, noEpisodes),
    bias: await bias(pairs),
    phi: ofTasks(pairCoefficient(clusters, phi), alwaysTheSame),
    cohen_kappa: ofTasks(pairCoefficient(clusters, cohenKappa), alwaysTheSame),
  };
}

function share(
  clusters: readonly PairCluster[],
  { hit, of }: Record<"hit" | "of", readonly (keyof PairTable)[]>,
  why: string,
): PairFigure {
  const figure = shareFigure(clusters, { hit, of, why, isWeighted: false });
  return ofTasks(figure, why);
}

function clustersOf(pairs: readonly OutcomePair[]): PairCluster[] {
  const table = createPairs();
  for (const { task, simulated, real } of pairs) table.add(task, { first: simulated, second: real });
  return table.end();
}

/** The same figure, whose trajectories are tasks. */
function ofTasks(
  { trajectories, effective_trajectories, ...figure }: AgreementFigure,
  why: string,
): PairFigure {
  const made = { ...figure, tasks: trajectories, effective_tasks: effective_trajectories };
  if (figure.value === null) return { ...made, note: why };
  if (trajectories < fewestTasks) return { ...made, interval: null, note: tooFew };
  return { ...made, note: figure.interval === null ? undefinedWithout : null };
}

/** The correlation of two verdicts (K. Pearson 1900). NaN if one of them is always the same. */
function phi({ bothPass, onlyFirst, onlySecond, bothFail }: PairTable): number {
  const margins =
    (bothPass + onlyFirst) * (onlySecond + bothFail) * (bothPass + onlySecond) * (onlyFirst + bothFail);
  return margins === 0 ? Number.NaN : (bothPass * bothFail - onlyFirst * onlySecond) / Math.sqrt(margins);
}

const seed = 1;

async function bias(pairs: readonly OutcomePair[]): Promise<PairFigure> {
  const clusters = [...Map.groupBy(pairs, ({ task }) => task).values()].map((ofTask) => ({
    count: ofTask.length,
    sum: ofTask.reduce((sum, { simulated, real }) => sum + Number(simulated) - Number(real), 0),
  }));
  const { difference, interval } = await pairedDifference(clusters, overallSigns, seed);
  const isFew = clusters.length < fewestTasks;
  const note = isFew ? tooFew : "All tasks differ alike, which does not show how far others would.";
  return {
    value: difference,
    interval,
    count: pairs.length,
    tasks: clusters.length,
    effective_tasks: clusters.length === 0 ? null : effectiveClusters(momentsOfClusters(clusters)),
    note: difference === null ? noEpisodes : interval === null ? note : null,
  };
}

export interface Consistency {
  /** Success of simulated actions that were sent to the real environment. */
  replayed: PairFigure;
  /** Success of acting there. */
  real: PairFigure;
  ratio: PairFigure;
}

/**
 * How often what is chosen in simulation works in reality, beside acting in reality: W2R and the consistency ratio (Word2World, arXiv
 * 2512.18832). The ratio's interval is ± t times the jackknife's error by task of its logarithm. Undefined without replays.
 */
export function consistencyOf(all: readonly OutcomePair[]): Consistency | undefined {
  const pairs = all.filter(({ replayed }) => replayed !== undefined);
  if (pairs.length === 0) return undefined;
  const table = createPairs();
  for (const { task, real, replayed } of pairs) table.add(task, { first: replayed === true, second: real });
  const clusters = table.end();
  const replayed = share(clusters, { hit: ["bothPass", "onlyFirst"], of: cells }, noEpisodes);
  const real = share(clusters, { hit: ["bothPass", "onlySecond"], of: cells }, noEpisodes);
  return { replayed, real, ratio: ratioFigure(clusters, replayed) };
}

function ratioFigure(
  clusters: readonly PairCluster[],
  { count, tasks, effective_tasks }: PairFigure,
): PairFigure {
  const all = sumOf(clusters.map(({ counts }) => counts));
  const ratio = (table: PairTable) =>
    (table.bothPass + table.onlyFirst) / (table.bothPass + table.onlySecond);
  const value = ratio(all);
  const made = { count, tasks, effective_tasks };
  if (!Number.isFinite(value))
    return { value: null, interval: null, ...made, note: "Nothing succeeded in the real environment." };
  if (tasks < fewestTasks) return { value, interval: null, ...made, note: tooFew };
  const logs = clusters.map(({ counts }) =>
    Math.log(
      ratio({
        bothPass: all.bothPass - counts.bothPass,
        onlyFirst: all.onlyFirst - counts.onlyFirst,
        onlySecond: all.onlySecond - counts.onlySecond,
        bothFail: all.bothFail - counts.bothFail,
      }),
    ),
  );
  if (!logs.every(Number.isFinite) || value === 0)
    return { value, interval: null, ...made, note: undefinedWithout };
  const mean = logs.reduce((sum, one) => sum + one, 0) / tasks;
  const squares = logs.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  const reach = tQuantile(0.975, (effective_tasks ?? 1) - 1) * Math.sqrt(((tasks - 1) / tasks) * squares);
  const [lower, upper] = [Math.exp(Math.log(value) - reach), Math.exp(Math.log(value) + reach)];
  return { value, interval: { level: 0.95, lower, upper }, ...made, note: null };
}

/** Kendall's τ-b of two orders (M. G. Kendall 1945). NaN if one of them ranks nothing. */
export function kendallTau(values: readonly (readonly [one: number, other: number])[]): number {
  let [concordant, onlyOne, onlyOther] = [0, 0, 0];
  for (const [at, [a, b]] of values.entries())
    for (const [c, d] of values.slice(at + 1)) {
      concordant += Math.sign(a - c) * Math.sign(b - d);
      if (a !== c) onlyOne += 1;
      if (b !== d) onlyOther += 1;
    }
  return onlyOne === 0 || onlyOther === 0 ? Number.NaN : concordant / Math.sqrt(onlyOne * onlyOther);
}
