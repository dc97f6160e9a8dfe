import type { Goal } from "../report/goal.ts";
import { showPercent } from "../report/markdown.ts";
import { fiftyEqual } from "./designs.ts";
import type { StatisticsResult } from "./run-statistics.ts";

const judge = (text: string, values: readonly number[], least: number, most: number): Goal => {
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  return {
    text,
    measured: `${showPercent(lowest)} to ${showPercent(highest)}`,
    met: values.length > 0 && lowest >= least && highest <= most,
  };
};

export const judgeStatistics = ({ coverage, errorRates, survival }: StatisticsResult): Goal[] => {
  const judged = coverage.filter(({ rate }) => rate < 0.95);
  return [
    judge(
      "Intervals of rates of 0.5 and 0.8 cover in 93 to 97 % with 50 equal trajectories",
      judged.filter(({ design }) => design === fiftyEqual).map(({ clustered }) => clustered),
      0.93,
      0.97,
    ),
    judge(
      "and in at least 91 % with trajectories as long as the recorded ones",
      judged.filter(({ design }) => design !== fiftyEqual).map(({ clustered }) => clustered),
      0.91,
      1,
    ),
    judge(
      "Of runs that do not differ, the t test rejects 3.5 to 6 % at 0.05",
      errorRates.map(({ tTest }) => tTest),
      0.035,
      0.06,
    ),
    judge(
      "and the permutation test at most 6 %",
      errorRates.map(({ permutation }) => permutation),
      0,
      0.06,
    ),
    judge(
      "and at most 3.5 % as worse, which is what fails a gate",
      errorRates.map(({ worse }) => worse),
      0,
      0.035,
    ),
    judge(
      "Intervals of the survival after 1, 5 and 10 steps cover in 92 to 98 %",
      survival.map(({ covered }) => covered),
      0.92,
      0.98,
    ),
  ];
};
