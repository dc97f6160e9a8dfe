import type { RunEvaluator } from "@presage/sdk";
import { splitVersion } from "../../format/split-version.ts";

/** Short names of a run's evaluators: the family, with the profile or the version only where others have the same family. */
export function nameEvaluators(evaluators: readonly RunEvaluator[]): string[] {
  return evaluators.map((evaluator) => {
    const family = familyOf(evaluator);
    const alike = evaluators.filter((other) => familyOf(other) === family);
    const isDefault = evaluator.profile_name === "system:default";
    if (alike.length === 1) return isDefault ? family : `${family} ${evaluator.profile_name}`;
    const isSameId = alike.every((other) => other.evaluator === evaluator.evaluator);
    return `${isSameId ? family : evaluator.evaluator} ${evaluator.profile_name}`;
  });
}

function familyOf({ evaluator }: RunEvaluator): string {
  return splitVersion(evaluator).family.replace(/-$/, "");
}
