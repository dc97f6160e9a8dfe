import { ruleFamilies } from "../evaluators/registry.ts";
import { type ConfigCheckTask, checkHeavily } from "./check-heavily.ts";
import { createRuleEvaluator, type RuleTask } from "./evaluate-by-rule.ts";
import { type RuleOutcome, settleRule } from "./rule-outcome.ts";

const evaluate = createRuleEvaluator(ruleFamilies);

/** Checks a config, and says what is wrong with it. The pool finds it by this name. */
export function checkRuleConfig(task: ConfigCheckTask): string | undefined {
  return checkHeavily(ruleFamilies, task);
}

/** What a thread of the pool does with a task. The pool finds it by this name. */
export function runRuleTask(task: RuleTask): RuleOutcome {
  return settleRule(() => evaluate(task));
}
