export interface DashboardPlan {
  /** Number of results in the database. */
  readonly size: number;
  readonly rounds: number;
  /** Number of pages of results that a round scrolls through. */
  readonly scrolledPages: number;
  /** Number of samples of the run whose pages are measured. */
  readonly samples: number;
}

export const fullDashboardPlan: DashboardPlan = {
  size: 1_000_000,
  rounds: 5,
  scrolledPages: 20,
  samples: 100_000,
};

export const quickDashboardPlan: DashboardPlan = {
  size: 10_000,
  rounds: 2,
  scrolledPages: 20,
  samples: 3_000,
};
