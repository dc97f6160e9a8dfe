import { showPercent, table } from "../report/markdown.ts";
import { intraClusterCorrelation } from "./draws.ts";
import { repeats, type SurvivalCoverage, trajectories } from "./measure-survival.ts";
import type { StatisticsPlan } from "./plan-statistics.ts";
import type { StatisticsResult } from "./run-statistics.ts";

const survivalTable = (rows: readonly SurvivalCoverage[], naive: string): string =>
  table(
    ["divergence at each step", "steps", "Presage", naive, "no interval (estimate 1 or 0)"],
    rows.map(({ chance, step, covered, naive, without }) => [
      showPercent(chance),
      String(step),
      showPercent(covered),
      showPercent(naive),
      showPercent(without),
    ]),
  );

const show = (count: number): string => count.toLocaleString("en-US");

export const writeStatistics = (result: StatisticsResult, plan: StatisticsPlan): string => `
The seeds are fixed, so the figures are the same on every machine with the same Bun. What is
simulated are the functions that reports and comparisons call ([formulas](../docs/statistics.md)).

### Intervals of a pass rate
The share of ${show(plan.coverageSets)} simulated data sets in which the interval at 95 % contains the true rate. Verdicts of a trajectory are correlated by ${intraClusterCorrelation}:
each trajectory has its own rate (beta-binomial), or some verdicts are the trajectory's common one. Rates of 0.95 are shown and have no goal.
The naive interval is Wilson's for as many independent verdicts.

${table(
  ["trajectories", "true rate", "correlated by", "Presage: pass rate", "Presage: mean score", "naive"],
  result.coverage.map(({ design, rate, dependence, clustered, mean, naive }) => [
    design.name,
    String(rate),
    dependence,
    showPercent(clustered),
    showPercent(mean),
    showPercent(naive),
  ]),
)}

### Tests of two runs that do not differ
The share of ${show(plan.testSets)} simulated pairs of runs in which a test says at 5 % that they differ. Both pass 70 % of the samples; each has its own rate in
each trajectory (beta-binomial, ${intraClusterCorrelation}). Permutations are exact for 20 trajectories and sampled for more. The naive test is that of the
differences of as many independent samples.

${table(
  ["trajectories", "t test", "permutation test", "t test, and worse", "naive"],
  result.errorRates.map(({ design, tTest, permutation, worse, naive }) => [
    design.name,
    showPercent(tTest),
    showPercent(permutation),
    showPercent(worse),
    showPercent(naive),
  ]),
)}

### Survival of free-running trajectories
The share of ${show(plan.survivalSets)} simulated data sets in which the interval at 95 % contains the true survival (1 − p)^k after k steps, of those that have one. ${trajectories}
trajectories each, as long as recorded ones (drawn from both data sets), so that many are censored. The naive interval is Greenwood's on the plain scale.

${survivalTable(result.survival, "naive")}

With ${repeats} repeats of each trajectory, which has its own chance of a divergence (from a beta distribution); ${show(plan.repeatedSets)} data sets. Presage's interval is the
bootstrap's over trajectories; the naive one takes all repeats as independent.

${survivalTable(result.repeatedSurvival, "naive")}
`;
