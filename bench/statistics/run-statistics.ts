import { type Coverage, measureCoverage } from "./measure-coverage.ts";
import { type ErrorRates, measureErrorRates } from "./measure-error-rates.ts";
import { measureRepeatedSurvival, measureSurvival, type SurvivalCoverage } from "./measure-survival.ts";
import type { StatisticsPlan } from "./plan-statistics.ts";

export interface StatisticsResult {
  readonly coverage: readonly Coverage[];
  readonly errorRates: readonly ErrorRates[];
  readonly survival: readonly SurvivalCoverage[];
  readonly repeatedSurvival: readonly SurvivalCoverage[];
}

export const runStatistics = async (plan: StatisticsPlan): Promise<StatisticsResult> => ({
  coverage: measureCoverage(plan.coverageSets),
  errorRates: await measureErrorRates(plan.testSets),
  survival: await measureSurvival(plan.survivalSets),
  repeatedSurvival: await measureRepeatedSurvival(plan.repeatedSets),
});
