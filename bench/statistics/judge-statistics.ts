import type { Goal } from "../report/goal.ts";
import { showPercent } from "../report/markdown.ts";
import { coverageRows, summarize } from "./coverage-rows.ts";
import { type Coverage, rareKind } from "./measure-coverage.ts";
import { type ErrorRates, samePairs, wholeFailures } from "./measure-error-rates.ts";
import type { StatisticsPlan } from "./plan-statistics.ts";
import type { StatisticsResult } from "./run-statistics.ts";

/** Allows two standard errors of a share, given the number of data sets. */
const judge = (text: string, shares: readonly number[], least: number, most: number, sets: number): Goal => {
  const [lowest, highest] = [Math.min(...shares), Math.max(...shares)];
  const allowed = (share: number) => 2 * Math.sqrt((share * (1 - share)) / sets);
  return {
    text,
    measured: `${showPercent(lowest)} to ${showPercent(highest)}`,
    met: shares.length > 0 && lowest >= least - allowed(least) && highest <= most + allowed(most),
  };
};

export const judgeStatistics = (result: StatisticsResult, plan: StatisticsPlan): Goal[] => {
  const rates = result.rates.filter(({ kind }) => kind === "beta-binomial");
  const chosen = coverageRows.map(({ chosenBy, has }) =>
    Math.abs(summarize(rates.filter(has), "product")[0] - chosenBy[0]),
  );
  const covered = (coverage: readonly Coverage[], is: (one: Coverage) => boolean) =>
    coverage.filter(is).map((one) => one.covered.product);
  const tests = (is: (one: ErrorRates) => boolean, of: "flips" | "worse" | "survives" | "covered") =>
    result.errorRates.filter(is).map((one) => one[of]);
  const isSame = ({ pair }: ErrorRates) => samePairs.includes(pair);
  const failsWhole = ({ pair }: ErrorRates) => wholeFailures.includes(pair);
  const isMany = ({ trajectories, lengths, truth }: Coverage) =>
    trajectories === 60 && lengths.areLike && truth <= 0.8;
  const { coverageSets, testSets, otherSets, survivalSets } = plan;
  return [
    judge(
      "Intervals of rates of 0.5 and 0.8 cover in 93 to 97 % with 60 trajectories of like lengths",
      covered(rates, isMany),
      0.93,
      0.97,
      coverageSets,
    ),
    judge(
      "and in at least 91 % in all designs",
      covered(rates, () => true),
      0.91,
      1,
      coverageSets,
    ),
    judge(
      "Mean coverages are at most 0.5 points from those that the formula was chosen by",
      chosen,
      0,
      0.005,
      Number.POSITIVE_INFINITY,
    ),
    judge(
      "Intervals of mean scores under 0.95, without a rare kind, cover in at least 91 %",
      covered(result.scores, ({ truth, kind }) => truth < 0.95 && kind !== rareKind),
      0.91,
      1,
      coverageSets,
    ),
    judge(
      "Of runs that do not differ, flipped signs reject at most 6.3 % at 0.05",
      tests(isSame, "flips"),
      0,
      0.063,
      testSets,
    ),
    judge(
      "and at most 3.5 % as worse, which is what fails a gate",
      tests(isSame, "worse"),
      0,
      0.035,
      testSets,
    ),
    judge(
      "Intervals of differences of independent runs cover in at least 93.5 %",
      tests(({ pair }) => pair.gain === undefined, "covered"),
      0.935,
      1,
      otherSets,
    ),
    judge(
      "Where B fails whole in 5 or 10 %, at most 7 % find a difference that survives one failure",
      tests(failsWhole, "survives"),
      0,
      0.07,
      otherSets,
    ),
    judge(
      "Intervals of the survival after 1, 5 and 10 steps cover in 92 to 98 %",
      result.survival.map((one) => one.covered),
      0.92,
      0.98,
      survivalSets,
    ),
  ];
};
