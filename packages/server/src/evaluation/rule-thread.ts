import { createRuleEvaluator, type RuleTask } from "./evaluate-by-rule.ts";
import { ruleFamilies } from "./evaluators/registry.ts";
import { type RuleOutcome, settleRule } from "./rule-outcome.ts";

const evaluate = createRuleEvaluator(ruleFamilies);

/** What a thread of the pool does with a task. The pool finds it by this name. */
export function runRuleTask(task: RuleTask): RuleOutcome {
  return settleRule(() => evaluate(task));
}
