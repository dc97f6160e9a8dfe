export interface StatisticsPlan {
  readonly coverageSets: number;
  readonly testSets: number;
  readonly survivalSets: number;
  /** Each takes 2,000 resamples. */
  readonly repeatedSets: number;
}

export const fullStatisticsPlan: StatisticsPlan = {
  coverageSets: 2000,
  testSets: 10_000,
  survivalSets: 1000,
  repeatedSets: 1000,
};

export const quickStatisticsPlan: StatisticsPlan = {
  coverageSets: 200,
  testSets: 300,
  survivalSets: 100,
  repeatedSets: 10,
};
