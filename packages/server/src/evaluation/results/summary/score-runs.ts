import { toMille } from "./score-mille.ts";

/** The second index of scores holds them in steps of so many thousandths (migration 004). */
export const milleOfStep = 40;
const lastStep = Math.floor(1000 / milleOfStep);

/** Results of one thousandth, or of one step of thousandths. */
export interface ScoreRun {
  unit: "mille" | "step";
  value: number;
  /** True where the run also holds scores beyond the bounds, so that each has to be looked at. */
  isCut: boolean;
}

/**
 * The range of scores as runs of equal keys: whole steps in its middle and single thousandths towards bounds that lie
 * inside a step. Each run is in the order of ids in its index, which a range of scores is not.
 */
export function scoreRuns(minScore: number | undefined, maxScore: number | undefined): ScoreRun[] {
  const isBoundBelow = minScore !== undefined && minScore > 0;
  const isBoundAbove = maxScore !== undefined && maxScore < 1;
  const from = isBoundBelow ? toMille(minScore) : 0;
  const to = isBoundAbove ? toMille(maxScore) : 1000;
  if (from > to || from > 1000 || to < 0) return [];

  const runs: ScoreRun[] = [];
  let mille = from;
  while (mille <= to) {
    const isEdge = (isBoundBelow && mille === from) || (isBoundAbove && mille === to);
    const step = Math.floor(mille / milleOfStep);
    const isStepWhole = step === lastStep || mille + milleOfStep - 1 < to;
    if (!isEdge && mille % milleOfStep === 0 && isStepWhole) {
      runs.push({ unit: "step", value: step, isCut: false });
      mille += milleOfStep;
    } else {
      runs.push({ unit: "mille", value: mille, isCut: isEdge });
      mille += 1;
    }
  }
  return runs;
}
