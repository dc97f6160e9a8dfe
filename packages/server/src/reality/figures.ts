import type { RealityFigure, RealityFigures } from "@presage/contract";
import {
  consistencyOf,
  fewestTasks,
  type PairFigures,
  pairFigures,
} from "../platform/statistics/outcome-pairs.ts";
import { kendallTau, rewardFigures } from "../platform/statistics/rank-correlation.ts";
import { bootstrapSurvival, type FirstDivergence } from "../platform/statistics/survival.ts";
import { countOf } from "../platform/words.ts";
import { type ActedEpisode, exploitsOf } from "./exploits.ts";

/** An episode that was checked. */
export interface CheckedEpisode extends ActedEpisode {
  /** Of the whole episode. Null: it had none. */
  simulatedReward: number | null;
  realReward: number | null;
  /** Steps compared. Null: only the outcomes are known. */
  steps: number | null;
  /** The first step, from 1, whose observation differs. Null: none does. */
  divergedAt: number | null;
}

/** More are no comparison of agents, and their order takes as many steps as there are pairs of them. */
const mostPolicies = 200;

/** What checked episodes say. Policies are in the order in which they came, the first of them. */
export async function realityFigures(
  episodes: readonly CheckedEpisode[],
  limit: number | null,
): Promise<RealityFigures> {
  const { counts, ...figures } = await pairFigures(episodes);
  const policies: RealityFigures["policies"] = [];
  const byPolicy = [...Map.groupBy(episodes, ({ policy }) => policy)].filter(([policy]) => policy !== null);
  for (const [policy, of] of byPolicy.slice(0, mostPolicies)) {
    const { phi: _, cohen_kappa: __, counts: its, ...shown } = await pairFigures(of);
    policies.push({ policy: policy ?? "", counts: toCounts(its), ...shown });
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
    policies,
    policy_order: policyOrder(policies, byPolicy.length),
  };
}

function toCounts({ bothPass, onlyFirst, onlySecond, bothFail }: PairFigures["counts"]) {
  return { both: bothPass, only_simulated: onlyFirst, only_real: onlySecond, neither: bothFail };
}

/** Of replayed episodes: one that was paid nothing has 0 on a side that pays others. */
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

/** Where the interval is beside the limit. */
function outcomeOf({ interval }: RealityFigure, limit: number): "above" | "below" | "undecided" {
  if (interval === null) return "undecided";
  if (interval.lower > limit) return "above";
  return interval.upper < limit ? "below" : "undecided";
}

export function describeFalseSuccess(
  { value, interval, count, tasks }: Pick<RealityFigure, "value" | "interval" | "count" | "tasks">,
  failed: number,
  kind = "95 %",
): string {
  if (value === null) return "No checked episode succeeded in simulation.";
  const succeeded = `${countOf(count, "episode")} in ${countOf(tasks, "task")} that succeeded in simulation`;
  const sure =
    interval === null
      ? "too few tasks for an interval"
      : `${kind} interval ${percent(interval.lower)} to ${percent(interval.upper)}`;
  return `Of ${succeeded}, ${failed} failed in reality: ${percent(value)} (${sure}).`;
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** Any will do; the same one makes the same figure. */
const bootstrapSeed = 1;

/** The steps until the observation first differs. Episodes of a task depend on each other, so intervals are of resampled tasks. */
async function divergenceOf(episodes: readonly CheckedEpisode[]): Promise<RealityFigures["divergence"]> {
  const compared = episodes.filter(({ steps }) => steps !== null);
  if (compared.length === 0) return null;
  const byTask = [...Map.groupBy(compared, ({ task }) => task).values()];
  const ends = byTask.map((of) => of.map(endOf));
  const { steps, median } = await bootstrapSurvival(ends, bootstrapSeed);
  const hasIntervals = byTask.length >= fewestTasks;
  const diverged = compared.filter(({ divergedAt }) => divergedAt !== null).length;
  const all = `${countOf(compared.length, "episode")} in ${countOf(byTask.length, "task")}`;
  const half = median === null ? "More than half never do." : `Half of all do by step ${median}.`;
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

function endOf({ steps, divergedAt }: CheckedEpisode): FirstDivergence {
  if (divergedAt !== null) return { lastStep: divergedAt, ending: "diverged" };
  return { lastStep: steps === 0 ? null : steps, ending: "recording-ended" };
}

const fewestPolicies = 3;

function policyOrder(policies: RealityFigures["policies"], all: number): RealityFigures["policy_order"] {
  const made = { policies: all };
  if (all > mostPolicies)
    return { kendall_tau: null, ...made, note: `Only the first ${mostPolicies} policies have figures.` };
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
