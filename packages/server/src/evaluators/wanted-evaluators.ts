import type { ValidationError } from "@presage/contract";
import { missing, valueError } from "../http/pydantic-issues.ts";
import type { EvaluatorIssue, WantedEvaluator } from "./evaluation-request.ts";
import type { NamedReference } from "./old-names.ts";

/** A reference without an evaluator is refused together with those that name an unknown one. */
export function toWantedEvaluator({
  evaluator = "",
  profileName,
  explainStrategy = "always",
}: NamedReference): WantedEvaluator {
  return { evaluator, profileName, explainStrategy };
}

/** Issues of evaluators, as issues of the fields that name them. */
export function toEvaluatorIssues(
  issues: readonly EvaluatorIssue[],
  references: readonly NamedReference[],
): ValidationError[] {
  return issues.flatMap(({ index, field, message }) => {
    const reference = references[index];
    if (reference === undefined) return [];
    const loc = reference.places[field];
    const input = reference[field];
    if (message === undefined || input === undefined) return [missing(loc, reference.given)];
    return [valueError(loc, message, input)];
  });
}
