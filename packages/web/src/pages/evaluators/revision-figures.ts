import type { EvaluationSummaryGroup } from "@presage/sdk";

export type FiguresOfRevision = (publicId: string, revision: number) => EvaluationSummaryGroup | undefined;

/** Looks up the totals of one revision: scores of different revisions are never mixed. */
export function figuresByRevision(groups: readonly EvaluationSummaryGroup[]): FiguresOfRevision {
  const byRevision = new Map(
    groups.map((group) => [
      `${group.key.evaluator_profile_public_id} ${group.key.evaluator_profile_revision}`,
      group,
    ]),
  );
  return (publicId, revision) => byRevision.get(`${publicId} ${revision}`);
}
