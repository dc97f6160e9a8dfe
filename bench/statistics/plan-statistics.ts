export interface StatisticsPlan {
  readonly coverageSets: number;
  /** Of runs that are the same. */
  readonly testSets: number;
  readonly otherSets: number;
  readonly survivalSets: number;
  /** Each takes 2,000 resamples. */
  readonly repeatedSets: number;
}

export const fullStatisticsPlan: StatisticsPlan = {
  coverageSets: 2000,
  testSets: 2000,
  otherSets: 800,
  survivalSets: 1000,
  repeatedSets: 1000,
};

export const quickStatisticsPlan: StatisticsPlan = {
  coverageSets: 20,
  testSets: 20,
  otherSets: 20,
  survivalSets: 100,
  repeatedSets: 10,
};
