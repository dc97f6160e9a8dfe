import { type Coverage, measureRates, measureScores } from "./measure-coverage.ts";
import { type ErrorRates, measureErrorRates } from "./measure-error-rates.ts";
import { measureRepeatedSurvival, measureSurvival, type SurvivalCoverage } from "./measure-survival.ts";
import type { StatisticsPlan } from "./plan-statistics.ts";

export interface StatisticsResult {
  readonly rates: readonly Coverage[];
  readonly scores: readonly Coverage[];
  readonly errorRates: readonly ErrorRates[];
  readonly survival: readonly SurvivalCoverage[];
  readonly repeatedSurvival: readonly SurvivalCoverage[];
}

export const runStatistics = async (plan: StatisticsPlan): Promise<StatisticsResult> => ({
  rates: measureRates(plan.coverageSets),
  scores: measureScores(plan.coverageSets),
  errorRates: await measureErrorRates(plan.testSets, plan.otherSets),
  survival: await measureSurvival(plan.survivalSets),
  repeatedSurvival: await measureRepeatedSurvival(plan.repeatedSets),
});
