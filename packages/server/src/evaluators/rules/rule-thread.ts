import { ruleFamilies } from "../registry.ts";
import { type ConfigCheckTask, createRuleEvaluator } from "./run-rule.ts";

// The module of a pool's threads. The pool finds its functions by these names.

export const runRuleTask = createRuleEvaluator(ruleFamilies);

/** Does the expensive part of a config's check and says what is wrong with the config. */
export function checkRuleConfig({ familyName, config }: ConfigCheckTask): string | undefined {
  try {
    ruleFamilies.find(({ name }) => name === familyName)?.expensiveCheck?.run(config);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : "it cannot be checked";
  }
}
