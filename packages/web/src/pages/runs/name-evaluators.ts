import type { ReportEvaluator } from "@presage/sdk";
import { splitVersion } from "../../format/words.ts";

/** Short names of a run's evaluators: the family, with the profile or the version only where others have the same family. */
export function nameEvaluators(evaluators: readonly ReportEvaluator[]): string[] {
  return evaluators.map((evaluator) => {
    const family = familyOf(evaluator);
    const alike = evaluators.filter((other) => familyOf(other) === family);
    const { profile_name: profile } = evaluator;
    const isDefault = profile === null || profile === "system:default";
    if (alike.length === 1) return isDefault ? family : `${family} ${profile}`;
    const isSameId = alike.every((other) => other.evaluator === evaluator.evaluator);
    const name = isSameId ? family : evaluator.evaluator;
    return profile === null ? name : `${name} ${profile}`;
  });
}

function familyOf({ evaluator }: ReportEvaluator): string {
  return splitVersion(evaluator).family.replace(/-$/, "");
}
