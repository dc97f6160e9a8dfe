export interface SearchPlan {
  /** Numbers of results in the databases, ascending; every ratio is to the first. */
  readonly sizes: Readonly<Record<"SQLite" | "PostgreSQL", readonly number[]>>;
  readonly pageRepeats: number;
  readonly summaryRepeats: number;
}

export const fullSearchPlan: SearchPlan = {
  sizes: { SQLite: [10_000, 1_000_000], PostgreSQL: [10_000, 1_000_000, 5_000_000] },
  pageRepeats: 30,
  summaryRepeats: 10,
};

export const quickSearchPlan: SearchPlan = {
  sizes: { SQLite: [10_000, 100_000], PostgreSQL: [10_000, 100_000] },
  pageRepeats: 10,
  summaryRepeats: 3,
};
