import type { Comparison, ComparisonCandidate } from "@presage/sdk";
import { plainName, shortEvaluatorName, withoutVersion } from "../format/words.ts";

export type ComparedEvaluator = Comparison["evaluators"][number];
type Named = Pick<ComparedEvaluator, "evaluator" | "profile_name" | "profile_revision">;

/** Identifies an evaluator with a revision of a profile, also in addresses. */
export function evaluatorKey({ evaluator, profile_name, profile_revision }: Named): string {
  return [evaluator, profile_name ?? "", profile_revision ?? ""].join("~");
}

/** “exact-match”; with its profile and version if others in the list would have the same name. */
export function nameEvaluator(one: Named, all: readonly Named[]): string {
  const names = [shortEvaluatorName, mediumName, longName].map((name) => ({ name, text: name(one) }));
  const isUnique = ({ name, text }: (typeof names)[number]) =>
    all.every((other) => evaluatorKey(other) === evaluatorKey(one) || name(other) !== text);
  return names.find(isUnique)?.text ?? longName(one);
}

function mediumName({ evaluator, profile_name, profile_revision }: Named): string {
  return [
    withoutVersion(evaluator),
    profile_name && plainName(profile_name),
    profile_revision !== null && `revision ${profile_revision}`,
  ]
    .filter(Boolean)
    .join(", ");
}

function longName({ evaluator, profile_name, profile_revision }: Named): string {
  return [
    evaluator,
    profile_name && plainName(profile_name),
    profile_revision !== null && `revision ${profile_revision}`,
  ]
    .filter(Boolean)
    .join(", ");
}

/** The names of all evaluators of a run. */
export function nameEvaluators(all: readonly Named[]): string[] {
  return all.map((one) => nameEvaluator(one, all));
}

/** The evaluators of a run as the options of a select. */
export function evaluatorOptions(all: readonly Named[]): { value: string; label: string }[] {
  return all.map((one) => ({ value: evaluatorKey(one), label: nameEvaluator(one, all) }));
}

/** The measure that the differences by an evaluator refer to. */
export function measureOf({ candidates }: ComparedEvaluator): ComparisonCandidate["measure"] {
  return candidates[0]?.measure ?? "score";
}
