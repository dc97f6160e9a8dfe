/** What a summary can be grouped by. */
export type Dimension = "evaluator" | "profile" | "app" | "tag" | "day" | "run";

/** The columns of each dimension. */
export const columnsOf = {
  evaluator: ["evaluator_id", "evaluator_family"],
  profile: ["profile_name", "profile_public_id", "profile_revision"],
  app: ["app"],
  tag: ["tag"],
  day: ["day"],
  run: ["run_id"],
} as const satisfies Record<Dimension, readonly (keyof GroupKey)[]>;

/** What the results of a group have in common: the columns of the requested dimensions. */
export interface GroupKey {
  evaluator_id?: string;
  /** Here and below, an empty text or 0 stands for none. */
  evaluator_family?: string;
  profile_name?: string;
  profile_public_id?: string;
  profile_revision?: number;
  app?: string;
  run_id?: string;
  /** Days since 1970-01-01 UTC. */
  day?: number;
  /** Null for results without the tag. */
  tag?: string | null;
}
