import type { ComparisonCandidate } from "@presage/sdk";
import { describeP, formatPoints } from "../../../format/format-difference.ts";
import { formatCount } from "../../../format/format-number.ts";

/** A difference with a smaller adjusted p is taken as shown. */
export const significance = 0.05;

export type Verdict = "better" | "worse" | "open";

export interface Outcome {
  verdict: Verdict;
  /** What can be said, in one sentence. */
  sentence: string;
  /** What qualifies it. */
  caveats: string[];
}

interface Names {
  candidate: string;
  reference: string;
  evaluator: string;
}

type Compared = Omit<ComparisonCandidate, "strata" | "run_id">;

/** Says which of two runs is better by an evaluator, or that no difference can be shown. */
export function describeOutcome(compared: Compared, names: Names): Outcome {
  const verdict = verdictOf(compared);
  return { verdict, sentence: sentenceOf(verdict, compared, names), caveats: caveatsOf(verdict, compared) };
}

function verdictOf({ difference, p_adjusted: p }: Compared): Verdict {
  if (difference === null || p === null || p >= significance || difference === 0) return "open";
  return difference > 0 ? "better" : "worse";
}

function sentenceOf(verdict: Verdict, compared: Compared, names: Names): string {
  const { candidate, reference, evaluator } = names;
  const { difference, p_adjusted: p } = compared;
  if (difference === null)
    return `${candidate} and ${reference} have no sample in common that ${evaluator} gave a verdict on.`;
  const figures = [rangeOf(compared), p === null ? undefined : describeP(p)].filter(Boolean).join(", ");
  if (verdict === "open") {
    const measured = `${formatPoints(difference)} points${figures && `, ${figures}`}`;
    return `No difference between ${candidate} and ${reference} can be shown on ${evaluator}: ${measured}.`;
  }
  const points = formatPoints(Math.abs(difference)).slice(1);
  return `${candidate} is ${verdict} than ${reference} on ${evaluator} by ${points} points, ${figures}.`;
}

function rangeOf({ interval }: Compared): string | undefined {
  if (interval === null) return undefined;
  return `${Math.round(interval.level * 100)} % interval ${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}`;
}

function caveatsOf(verdict: Verdict, compared: Compared): string[] {
  const { p_value: p, min_detectable, difference, difference_failures_as_zero: withFailures } = compared;
  const { only_in_reference, only_in_candidate, note, trajectories } = compared;
  const caveats: string[] = [];
  if (verdict === "open" && difference !== null) {
    if (trajectories < 2)
      caveats.push("All samples are of one trajectory, which does not show how far others differ.");
    if (p !== null && p < significance)
      caveats.push(
        `Taken alone it would be significant (${describeP(p)}); after adjusting for the other comparisons it is not.`,
      );
    if (min_detectable !== null)
      caveats.push(
        `Data like this shows a true difference of ${formatPoints(min_detectable).slice(1)} points in four of five cases; a smaller one may be there, unseen.`,
      );
  }
  const missing = only_in_reference + only_in_candidate;
  if (missing > 0) {
    const asZero =
      withFailures === null
        ? ""
        : ` With failures as 0 the difference is ${formatPoints(withFailures)} points.`;
    caveats.push(
      `${formatCount(missing)} ${missing === 1 ? "sample has" : "samples have"} a verdict in one of the two only, and ${missing === 1 ? "does" : "do"} not count.${asZero}`,
    );
  }
  if (note !== null) caveats.push(note);
  return caveats;
}
