export interface RetentionPlan {
  /** Half of them are too old. */
  readonly results: number;
  /** Evaluations that are stored in a second meanwhile. */
  readonly perSecond: number;
  /** How long they are measured before anything is deleted. */
  readonly beforeS: number;
  /** Deleting is watched for at most so long. */
  readonly mostS: number;
}

export const fullRetentionPlan: RetentionPlan = {
  results: 500_000,
  perSecond: 100,
  beforeS: 60,
  mostS: 3_600,
};

export const quickRetentionPlan: RetentionPlan = { results: 20_000, perSecond: 100, beforeS: 5, mostS: 60 };
