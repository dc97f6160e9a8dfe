import type { ConfidenceInterval } from "@presage/contract";
import type { UsableProfile } from "../resolve-evaluators.ts";

/** The interval of all scores that an evaluator has given with a profile before. */
export type FindConfidenceInterval = (
  accountId: string,
  evaluatorId: string,
  profile: UsableProfile,
) => Promise<ConfidenceInterval>;
