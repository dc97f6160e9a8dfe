export interface DashboardPlan {
  /** How many results the database holds. */
  readonly size: number;
  readonly rounds: number;
  /** How many pages of results a round scrolls through. */
  readonly scrolledPages: number;
}

export const fullDashboardPlan: DashboardPlan = { size: 1_000_000, rounds: 5, scrolledPages: 20 };

export const quickDashboardPlan: DashboardPlan = { size: 10_000, rounds: 2, scrolledPages: 20 };
