import type { RealityFigures } from "@presage/contract";
import {
  consistencyOf,
  kendallTau,
  type OutcomePair,
  type PairFigure,
  type PairFigures,
  pairFigures,
} from "../platform/statistics/outcome-pairs.ts";
import { countOf } from "../platform/words.ts";

/** An episode of a check, as its figures take it. */
export interface CheckedEpisode extends OutcomePair {
  episodeId: string | null;
  position: number;
  checkId?: string;
  simulatedReward: number | null;
  realReward: number | null;
  steps: number | null;
  divergedAt: number | null;
  verbs: readonly string[] | null;
}

/** More are no comparison of agents, and their order takes as many steps as there are pairs of them. */
const mostPolicies = 200;

/** What episodes with two outcomes say. Policies are in the order in which they came, the first of them. */
export async function realityFigures(
  pairs: readonly OutcomePair[],
  limit: number | null,
): Promise<RealityFigures> {
  const { counts, ...figures } = await pairFigures(pairs);
  const named = pairs.flatMap((pair) => (pair.policy === null ? [] : [{ ...pair, policy: pair.policy }]));
  const policies: RealityFigures["policies"] = [];
  const byPolicy = [...Map.groupBy(named, (pair) => pair.policy)];
  for (const [policy, of] of byPolicy.slice(0, mostPolicies)) {
    const { phi: _, cohen_kappa: __, counts: its, ...shown } = await pairFigures(of);
    policies.push({ policy, counts: toCounts(its), ...shown });
  }
  return {
    sentence: describeFalseSuccess(figures.false_success_rate, counts),
    outcome: limit === null ? null : outcomeOf(figures.false_success_rate, limit),
    counts: toCounts(counts),
    ...figures,
    consistency: consistencyOf(pairs) ?? null,
    policies,
    policy_order: policyOrder(policies, byPolicy.length),
  };
}

function toCounts({ bothPass, onlyFirst, onlySecond, bothFail }: PairFigures["counts"]) {
  return { both: bothPass, only_simulated: onlyFirst, only_real: onlySecond, neither: bothFail };
}

/** Where the interval is beside the limit. */
function outcomeOf({ interval }: PairFigure, limit: number): "above" | "below" | "undecided" {
  if (interval === null) return "undecided";
  if (interval.lower > limit) return "above";
  return interval.upper < limit ? "below" : "undecided";
}

function describeFalseSuccess(
  { value, interval, count, tasks }: PairFigure,
  { onlyFirst }: PairFigures["counts"],
): string {
  if (value === null) return "No episode succeeded in simulation.";
  const succeeded = `${countOf(count, "episode")} in ${countOf(tasks, "task")} that succeeded in simulation`;
  const sure =
    interval === null
      ? "too few tasks for an interval"
      : `95 % interval ${percent(interval.lower)} to ${percent(interval.upper)}`;
  return `Of ${succeeded}, ${onlyFirst} failed in reality: ${percent(value)} (${sure}).`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

const fewestPolicies = 3;

function policyOrder(policies: RealityFigures["policies"], all: number): RealityFigures["policy_order"] {
  const made = { policies: all };
  if (all > mostPolicies)
    return { kendall_tau: null, ...made, note: `Only the first ${mostPolicies} policies have figures.` };
  if (policies.length < fewestPolicies)
    return { kendall_tau: null, ...made, note: "An order takes three policies." };
  const rates = policies.map(({ counts: { both, only_simulated, only_real, neither } }) => {
    const all = both + only_simulated + only_real + neither;
    return [(both + only_simulated) / all, (both + only_real) / all] as const;
  });
  const tau = kendallTau(rates);
  return Number.isNaN(tau)
    ? { kendall_tau: null, ...made, note: "All policies succeed equally often on one side." }
    : { kendall_tau: tau, ...made, note: null };
}
