import type { EvaluationSummaryGroup } from "@presage/sdk";
import { sortRates } from "../../data/figures/rate-group.ts";

export type FiguresOfRevision = (publicId: string, revision: number) => EvaluationSummaryGroup[];

/**
 * Looks up the totals of one revision, usually of one evaluator. Versions of an evaluator are apart, as are revisions: their scores are
 * never mixed.
 */
export function figuresByRevision(groups: readonly EvaluationSummaryGroup[]): FiguresOfRevision {
  const byRevision = Map.groupBy(
    groups,
    ({ key }) => `${key.evaluator_profile_public_id} ${key.evaluator_profile_revision}`,
  );
  return (publicId, revision) => sortRates(byRevision.get(`${publicId} ${revision}`) ?? []);
}
