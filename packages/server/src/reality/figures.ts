import { setImmediate as nextTurn } from "node:timers/promises";
import type { RealityFigure, RealityFigures } from "@presage/contract";
import { holm } from "../platform/statistics/differences.ts";
import { leaveOneOutError, tProbability } from "../platform/statistics/intervals.ts";
import {
  consistencyOf,
  fewestTasks,
  figureOfTasks,
  kendallTau,
  type MadeOf,
  macroConsistencyOf,
  madeOf,
  type OutcomePair,
  type PairFigures,
  pairFigures,
  rewardFigures,
} from "../platform/statistics/outcome-pairs.ts";
import { bootstrapSurvival, type FirstDivergence } from "../platform/statistics/survival.ts";
import { countOf, percent } from "../platform/words.ts";

/** An episode whose actions are known. */
interface ActedEpisode extends OutcomePair {
  episodeId: string | null;
  /** The episode's position in its reality check. */
  position: number;
  checkId?: string;
  /** The first words or tools of its actions, without repeats; null if they are unknown. */
  verbs: readonly string[] | null;
}

type Exploits = RealityFigures["exploits"];
type Verb = Exploits["verbs"][number];

/** The fewest false successes, true successes, and successes with a verb that are tested. */
const fewest = 5;
/** At most this many verbs are tested, the most frequent ones. */
const mostTested = 1_000;
const testedAtOnce = 20;
const mostShown = 20;
const mostExamples = 3;
const sure = 0.05;

/** Numbers of simulated successes that failed (`false`) and succeeded (`true`) in reality. */
interface Successes {
  false: number;
  true: number;
}

/** Verbs that are more frequent in false successes than in true ones, strongest evidence first. */
export async function exploitsOf(episodes: readonly ActedEpisode[]): Promise<Exploits> {
  const successes = episodes.filter(({ simulated, verbs }) => simulated && verbs !== null);
  const all = countSuccesses(successes);
  const tasks = countByTask(successes);
  const made = { false_successes: all.false, true_successes: all.true, tasks: tasks.size };
  if (Math.min(all.false, all.true) < fewest)
    return { sentence: describeTooFew(all, episodes), ...made, tested: 0, verbs: [] };
  const base = { all, tasks, kinds: kindsOf(tasks), made: madeOf(sizesOf(tasks)) };
  const tested: Omit<Verb, "p_adjusted">[] = [];
  for (const verb of frequentVerbs(successes)) {
    tested.push(testVerb(verb, base));
    if (tested.length % testedAtOnce === 0) await nextTurn();
  }
  const adjusted = holm(tested.map(({ p_value }) => p_value));
  const verbs = tested
    .map((one, index): Verb => ({ ...one, p_adjusted: adjusted[index] ?? null }))
    .filter(({ log_odds_ratio: { value } }) => (value ?? 0) > 0)
    .sort((a, b) => evidenceOf(b.log_odds_ratio) - evidenceOf(a.log_odds_ratio))
    .slice(0, mostShown);
  return { sentence: describe(verbs, all, tested), ...made, tested: tested.length, verbs };
}

function countSuccesses(episodes: readonly ActedEpisode[]): Successes {
  const real = episodes.filter((episode) => episode.real).length;
  return { false: episodes.length - real, true: real };
}

function countByTask(episodes: readonly ActedEpisode[]): Map<string, Successes> {
  const byTask = Map.groupBy(episodes, ({ task }) => task);
  return new Map([...byTask].map(([task, of]) => [task, countSuccesses(of)]));
}

const sizesOf = (tasks: ReadonlyMap<string, Successes>) =>
  [...tasks.values()].map((ofTask) => ofTask.false + ofTask.true);

/** Tasks grouped by their two counts, which are all that matters about tasks without the verb. */
type Kinds = ReadonlyMap<string, readonly Successes[]>;
const kindOf = (ofTask: Successes) => `${ofTask.false} ${ofTask.true}`;
const kindsOf = (tasks: ReadonlyMap<string, Successes>): Kinds => Map.groupBy(tasks.values(), kindOf);

/** The successes that every verb is compared with. */
interface Base {
  all: Successes;
  tasks: ReadonlyMap<string, Successes>;
  kinds: Kinds;
  made: MadeOf;
}

function frequentVerbs(successes: readonly ActedEpisode[]): [verb: string, having: ActedEpisode[]][] {
  const byVerb = new Map<string, ActedEpisode[]>();
  for (const episode of successes)
    for (const verb of new Set(episode.verbs)) {
      const having = byVerb.get(verb);
      if (having === undefined) byVerb.set(verb, [episode]);
      else having.push(episode);
    }
  return [...byVerb]
    .filter(([, having]) => having.length >= fewest)
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, mostTested);
}

/**
 * The log odds ratio of a verb in false against true successes, with half an episode added to each of the four counts (J. B. S. Haldane
 * 1956). Its standard error is the jackknife by task or, if larger, that of independent episodes (B. Woolf 1955): leaving out tasks
 * cannot show how uncertain a count of 0 is, so a verb that no true success has would always be significant.
 */
function testVerb(
  [verb, having]: readonly [string, readonly ActedEpisode[]],
  { made, ...base }: Base,
): Omit<Verb, "p_adjusted"> {
  const { all } = base;
  const counts = countSuccesses(having);
  const value = logOddsRatio(counts, all);
  const error = Math.max(errorByTask(having, counts, base), independentError(counts, all));
  const log_odds_ratio = figureOfTasks({ value, error, made, why: "There are no successes." });
  const degrees = (log_odds_ratio.effective_tasks ?? 1) - 1;
  return {
    verb,
    false_successes: counts.false,
    true_successes: counts.true,
    log_odds_ratio,
    p_value: log_odds_ratio.interval && tProbability(value / error, degrees),
    examples: having
      .filter(({ real }) => !real)
      .slice(0, mostExamples)
      .map(({ episodeId, checkId, position }) => ({
        episode_id: episodeId,
        check_id: checkId ?? null,
        position,
      })),
  };
}

function errorByTask(
  having: readonly ActedEpisode[],
  counts: Successes,
  { all, tasks, kinds }: Omit<Base, "made">,
): number {
  const without: number[] = [];
  const times: number[] = [];
  const timesOf = new Map([...kinds].map(([kind, of]) => [kind, of.length]));
  for (const [task, ofVerb] of countByTask(having)) {
    const ofTask = tasks.get(task) ?? ofVerb;
    without.push(logOddsRatio(less(counts, ofVerb), less(all, ofTask)));
    times.push(1);
    timesOf.set(kindOf(ofTask), (timesOf.get(kindOf(ofTask)) ?? 0) - 1);
  }
  for (const [kind, [ofTask]] of kinds) {
    const remaining = timesOf.get(kind) ?? 0;
    if (ofTask === undefined || remaining === 0) continue;
    without.push(logOddsRatio(counts, less(all, ofTask)));
    times.push(remaining);
  }
  return leaveOneOutError(Float64Array.from(without), times);
}

function less(all: Successes, some: Successes): Successes {
  return { false: all.false - some.false, true: all.true - some.true };
}

function logOddsRatio(having: Successes, all: Successes): number {
  const [f, t, noF, noT] = cellsOf(having, all).map(Math.log) as [number, number, number, number];
  return f - t - noF + noT;
}

function independentError(having: Successes, all: Successes): number {
  return Math.sqrt(cellsOf(having, all).reduce((sum, cell) => sum + 1 / cell, 0));
}

function cellsOf(having: Successes, all: Successes): number[] {
  const rest = less(all, having);
  return [having.false, having.true, rest.false, rest.true].map((count) => count + 0.5);
}

/** A sort key that puts ratios without an interval last. */
function evidenceOf({ value, interval }: RealityFigure): number {
  return interval === null ? (value ?? 0) - Number.MAX_SAFE_INTEGER : interval.lower;
}

function describeTooFew(all: Successes, episodes: readonly ActedEpisode[]): string {
  if (!episodes.some(({ simulated }) => simulated)) return noSuccess;
  if (all.false + all.true === 0)
    return "No actions of simulated successes are known: outcomes alone carry none.";
  return `${all.false} false and ${all.true} true successes: to compare their actions takes ${fewest} of each.`;
}

function describe(
  verbs: readonly Verb[],
  all: Successes,
  compared: readonly Omit<Verb, "p_adjusted">[],
): string {
  const tested = compared.filter(({ p_value }) => p_value !== null).length;
  const [first, ...others] = verbs.filter(({ p_adjusted }) => p_adjusted !== null && p_adjusted < sure);
  if (tested === 0) return compared[0]?.log_odds_ratio.note ?? `No action is in ${fewest} successes.`;
  if (first === undefined)
    return `None of ${countOf(tested, "action")}, tested together, is shown to be in false successes more often.`;
  const { verb, false_successes, true_successes } = first;
  const more = others.length === 0 ? "" : ` So it is with ${countOf(others.length, "other action")}.`;
  return `"${verb}" is in ${false_successes} of the ${all.false} false successes and in ${true_successes} of the ${all.true} true ones.${more}`;
}

export interface CheckedEpisode extends ActedEpisode {
  /** The reward of the whole episode; null if it had none. */
  simulatedReward: number | null;
  realReward: number | null;
  /** The number of steps compared; null if only the outcomes are known. */
  steps: number | null;
  /** The first step, from 1, whose observation differs; null if none does. */
  divergedAt: number | null;
}

/** More policies are not a comparison of agents, and ordering them takes time quadratic in their number. */
const mostPolicies = 200;

/** The figures of checked episodes. Policies are listed in order of appearance, only the last `mostPolicies`. */
export async function realityFigures(
  episodes: readonly CheckedEpisode[],
  limit: number | null,
): Promise<RealityFigures> {
  const { counts, ...figures } = await pairFigures(episodes);
  const policies: RealityFigures["policies"] = [];
  const byPolicy = [...Map.groupBy(episodes, ({ policy }) => policy)].filter(([policy]) => policy !== null);
  for (const [policy, of] of byPolicy.slice(-mostPolicies)) {
    const { counts: its, ...shown } = await pairFigures(of);
    const consistency = consistencyOf(of) ?? null;
    policies.push({ policy: policy ?? "", counts: toCounts(its), ...shown, consistency });
  }
  return {
    sentence: describeFalseSuccess(figures.false_success_rate, counts.onlyFirst),
    outcome: limit === null ? null : outcomeOf(figures.false_success_rate, limit),
    counts: toCounts(counts),
    ...figures,
    reward: await rewardFigures(rewardsOf(episodes)),
    divergence: await divergenceOf(episodes),
    exploits: await exploitsOf(episodes),
    consistency: consistencyOf(episodes) ?? null,
    macro_consistency: macroConsistencyOf(episodes) ?? null,
    policies,
    policy_order: policyOrder(policies, byPolicy.length),
  };
}

/** How a check's false success rate compares with its limit. */
export async function heldAgainst(limit: number, episodes: readonly CheckedEpisode[]) {
  const { false_success_rate: rate, counts } = await pairFigures(episodes);
  return { outcome: outcomeOf(rate, limit), sentence: describeFalseSuccess(rate, counts.onlyFirst) };
}

function toCounts({ bothPass, onlyFirst, onlySecond, bothFail }: PairFigures["counts"]) {
  return { both: bothPass, only_simulated: onlyFirst, only_real: onlySecond, neither: bothFail };
}

/** Rewards on both sides, empty unless both sides pay some; a replayed episode that was paid nothing counts as 0. */
function rewardsOf(episodes: readonly CheckedEpisode[]) {
  const isKnown = ({ simulatedReward, realReward, steps }: CheckedEpisode) =>
    steps !== null || (simulatedReward !== null && realReward !== null);
  const known = episodes.filter(isKnown);
  const bothPay =
    known.some(({ simulatedReward }) => simulatedReward !== null) &&
    known.some(({ realReward }) => realReward !== null);
  if (!bothPay) return [];
  return known.map(({ task, simulatedReward, realReward }) => ({
    task,
    simulated: simulatedReward ?? 0,
    real: realReward ?? 0,
  }));
}

/** How the interval compares with the limit. */
function outcomeOf({ interval }: RealityFigure, limit: number): "above" | "below" | "undecided" {
  if (interval === null) return "undecided";
  if (interval.lower > limit) return "above";
  return interval.upper < limit ? "below" : "undecided";
}

const noSuccess = "No checked episode succeeded in simulation.";

export function describeFalseSuccess(
  { value, interval, count, tasks }: Pick<RealityFigure, "value" | "interval" | "count" | "tasks">,
  failed: number,
  { kind = "95 %", policy }: { kind?: string; policy?: string | undefined } = {},
): string {
  if (value === null) return noSuccess;
  const whose = policy === undefined ? "" : ` of the policy ${policy}`;
  const succeeded = `${countOf(count, "episode")}${whose} in ${countOf(tasks, "task")} that succeeded in simulation`;
  const sure =
    interval === null
      ? "too few tasks for an interval"
      : `${kind} interval ${percent(interval.lower)} to ${percent(interval.upper)}`;
  return `Of ${succeeded}, ${failed} failed in reality: ${percent(value)} (${sure}).`;
}

/** Any seed will do; a fixed one always gives the same figures. */
const bootstrapSeed = 1;

/** The steps until the observation first differs. Episodes of a task depend on each other, so tasks are resampled for intervals. */
async function divergenceOf(episodes: readonly CheckedEpisode[]): Promise<RealityFigures["divergence"]> {
  const compared = episodes.filter(({ steps }) => steps !== null);
  if (compared.length === 0) return null;
  const byTask = [...Map.groupBy(compared, ({ task }) => task).values()];
  const ends = byTask.map((of) => of.map(endOf));
  const { steps, median } = await bootstrapSurvival(ends, bootstrapSeed);
  const hasIntervals = byTask.length >= fewestTasks;
  const diverged = compared.filter(({ divergedAt }) => divergedAt !== null).length;
  const all = `${countOf(compared.length, "episode")} in ${countOf(byTask.length, "task")}`;
  const half =
    median === null ? "After every step compared, more than half had not." : describeHalf(compared, median);
  return {
    sentence:
      diverged === 0
        ? `None of ${all} saw anything that reality does not show.`
        : `Of ${all}, ${diverged} saw something that reality does not show. ${half}`,
    count: compared.length,
    tasks: byTask.length,
    diverged,
    median,
    steps: steps.map(({ atRisk, interval, ...step }) => ({
      ...step,
      at_risk: atRisk,
      interval: hasIntervals ? interval : null,
    })),
  };
}

/** The estimate takes episodes that ended earlier as if they went on like the others. */
function describeHalf(compared: readonly CheckedEpisode[], median: number): string {
  const diverged = compared.filter(({ divergedAt }) => divergedAt !== null && divergedAt <= median).length;
  return 2 * diverged >= compared.length
    ? `Half of all do by step ${median}.`
    : `Half of all would by step ${median}, if those that ended earlier went on alike.`;
}

function endOf({ steps, divergedAt }: CheckedEpisode): FirstDivergence {
  if (divergedAt !== null) return { lastStep: divergedAt, ending: "diverged" };
  return { lastStep: steps === 0 ? null : steps, ending: "recording-ended" };
}

const fewestPolicies = 3;

function policyOrder(policies: RealityFigures["policies"], all: number): RealityFigures["policy_order"] {
  const made = { policies: all };
  if (all > mostPolicies)
    return { kendall_tau: null, ...made, note: `Only the last ${mostPolicies} policies have figures.` };
  if (policies.length < fewestPolicies)
    return { kendall_tau: null, ...made, note: "To rank policies takes at least three." };
  const rates = policies.map(({ counts: { both, only_simulated, only_real, neither } }) => {
    const all = both + only_simulated + only_real + neither;
    return [(both + only_simulated) / all, (both + only_real) / all] as const;
  });
  const tau = kendallTau(rates);
  return Number.isNaN(tau)
    ? { kendall_tau: null, ...made, note: "All policies succeed equally often on one side." }
    : { kendall_tau: tau, ...made, note: null };
}
