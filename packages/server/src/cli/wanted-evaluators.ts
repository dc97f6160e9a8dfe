import type { WantedEvaluator } from "../evaluators/resolve-evaluators.ts";

/** Reads `--evaluator`: `FAMILY`, or `FAMILY=PROFILE`. */
export function readEvaluator(text: string): WantedEvaluator {
  const [evaluator = "", ...profile] = text.split("=");
  const profileName = profile.join("=");
  return { evaluator, ...(profileName === "" ? {} : { profileName }), explainStrategy: "always" };
}

/** The option that named an evaluator. */
export function optionOf({ evaluator, profileName }: WantedEvaluator): string {
  return `--evaluator ${profileName === undefined ? evaluator : `${evaluator}=${profileName}`}`;
}
