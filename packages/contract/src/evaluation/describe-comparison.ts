// The difference of two runs in words, apart from `describe-runs.ts`: of the dashboard's pages, only the comparison bundles it.
import type { ComparisonCandidate } from "./comparison.ts";
import {
  describeP,
  describeRange,
  formatPoints,
  formatPointsApart,
  measureNames,
  withNote,
} from "./describe-runs.ts";

/** What a comparison says about two runs, for people. */
export interface DescribedComparison {
  /** What can be said in one sentence, or in two if it would not survive one more failure. */
  sentence: string;
  /** The caveats to the sentence. */
  caveats: string[];
}

/** What a sentence calls two runs and the evaluator, and whether their figures may still change. */
export interface ComparedNames {
  candidate: string;
  reference: string;
  evaluator: string;
  preliminary: boolean;
}

type Compared = Omit<ComparisonCandidate, "strata" | "run_id">;

/** Shown with a report or comparison whose figures may still change by themselves. */
export const preliminaryNote =
  "Preliminary: a run has not ended, and the figures are of what there is so far.";

/** What a `min_detectable` of 1 or more means: scores differ by 1 at most. */
export const nothingDetectable =
  "With so few trajectories, not even the largest difference would be seen in four of five cases";

/** The smallest true difference that the data could show, in points. */
export function formatDetectable(detectable: number | null): string {
  return detectable !== null && detectable >= 1 ? "none" : formatPointsApart(detectable);
}

/** Says which of two runs is better by an evaluator, or that no difference can be shown: always the test's outcome. */
export function describeComparison(compared: Compared, names: ComparedNames): DescribedComparison {
  const caveats = [...(names.preliminary ? [preliminaryNote] : []), ...caveatsOf(compared)];
  return { sentence: sentenceOf(compared, names), caveats };
}

/** A name with a comma would come apart in a sentence. */
function quoted(name: string): string {
  return /[,;]/.test(name) ? `“${name}”` : name;
}

function sentenceOf(compared: Compared, { evaluator, ...names }: ComparedNames): string {
  const [candidate, reference] = [quoted(names.candidate), quoted(names.reference)];
  const { difference, measure, outcome, p_adjusted: p, survives_one_failure: survives } = compared;
  if (difference === null)
    return `${candidate} and ${reference} have no sample in common that ${evaluator} gave a verdict on.`;
  const figures = [describeRange(compared), p === null ? "no p-value" : describeP(p)].join(", ");
  if (outcome === "undecided") {
    const points = `${formatPoints(difference)} points of the ${measureNames[measure]}, ${figures}`;
    return `No difference between ${candidate} and ${reference} can be shown on ${evaluator}: ${points}.`;
  }
  const points = `${formatPointsApart(difference)} points of the ${measureNames[measure]}`;
  const better = outcome === "better" ? candidate : reference;
  const undone = survives === false ? ` One trajectory in which ${better} fails whole would undo this.` : "";
  return `${candidate} is ${outcome} than ${reference} on ${evaluator} by ${points}, ${figures}.${undone}`;
}

function caveatsOf(compared: Compared): string[] {
  const { p_value: p, p_adjusted, difference, difference_failures_as_zero: withFailures, why } = compared;
  const { only_in_reference, only_in_candidate, note, min_detectable } = compared;
  const caveats: string[] = [];
  if (why === "few_differ" && difference !== null && difference !== 0)
    caveats.push("The runs differ in fewer than 6 trajectories, which no test can tell from chance.");
  if (why === "within_noise") {
    if (p !== null && p < 0.05 && p !== p_adjusted)
      caveats.push(
        `Taken alone it would be significant (${describeP(p)}); after adjusting for the other comparisons it is not.`,
      );
    if (min_detectable !== null)
      caveats.push(
        min_detectable < 1
          ? `Data like this shows a true difference of ${formatPointsApart(min_detectable)} points in four of five cases; a smaller one may be there, unseen.`
          : `${nothingDetectable}: one may be there, unseen.`,
      );
  }
  const missing = only_in_reference + only_in_candidate;
  if (missing > 0) {
    const asZero =
      withFailures === null
        ? ""
        : ` With failures as 0 the difference is ${formatPoints(withFailures)} points.`;
    const samples = missing === 1 ? "1 sample has" : `${missing.toLocaleString("en-US")} samples have`;
    caveats.push(
      `${samples} a verdict in one of the two only, and ${missing === 1 ? "does" : "do"} not count.${asZero}`,
    );
  }
  if (note !== null) caveats.push(note);
  const { corrected } = compared;
  if (corrected) caveats.push(withNote(corrected));
  return caveats;
}
