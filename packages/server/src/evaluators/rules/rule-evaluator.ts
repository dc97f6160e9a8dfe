import type { ExplainStrategy } from "@presage/contract";
import { LRUCache } from "lru-cache";
import { outcomeOfError } from "../evaluation-error.ts";
import { type EvaluatorOutcome, isExplained, type Verdict } from "../evaluator-outcome.ts";
import type { RuleFamily } from "../family.ts";
import type { Sample } from "../sample.ts";

/** What an evaluation by rule needs; all of it can cross to another thread. */
export interface RuleTask {
  familyName: string;
  /** As returned by the family's schema. */
  config: unknown;
  sample: Sample;
  explainStrategy: ExplainStrategy;
}

const maxPreparedConfigs = 500;
const maxPreparedCharacters = 4_000_000;

/** Evaluates in the calling thread. A config is prepared once and cached. */
export function createRuleEvaluator(families: readonly RuleFamily[]) {
  const familiesByName = new Map(families.map((family) => [family.name, family]));
  const prepared = new LRUCache<string, (sample: Sample) => Verdict>({
    max: maxPreparedConfigs,
    maxSize: maxPreparedCharacters,
    sizeCalculation: (_, key) => key.length,
  });

  function prepare(familyName: string, config: unknown): (sample: Sample) => Verdict {
    // The schema returns a config's fields in a fixed order, so equal configs have equal texts.
    const key = `${familyName} ${JSON.stringify(config)}`;
    const known = prepared.get(key);
    if (known !== undefined) return known;
    const family = familiesByName.get(familyName);
    if (family === undefined) throw new Error(`There is no family ${familyName}`);
    const evaluate = family.prepare(config);
    prepared.set(key, evaluate);
    return evaluate;
  }

  function evaluate({ familyName, config, sample, explainStrategy }: RuleTask): EvaluatorOutcome {
    const startedAtMs = performance.now();
    const { explain, ...verdict } = prepare(familyName, config)(sample);
    const evaluatedAtMs = performance.now();
    const evaluationMicros = toMicros(evaluatedAtMs - startedAtMs);
    const outcome = { status: "success" as const, ...verdict, evaluationMicros };
    if (!isExplained(explainStrategy, verdict.pass)) return outcome;
    const explanation = explain();
    return { ...outcome, explanation, explanationMicros: toMicros(performance.now() - evaluatedAtMs) };
  }

  /** @throws Error for one that the family did not mean to throw, without any text of the sample. */
  return (task: RuleTask): EvaluatorOutcome => {
    let outcome: EvaluatorOutcome | undefined;
    try {
      outcome = evaluate(task);
    } catch (error) {
      outcome = outcomeOfError(error);
      if (outcome === undefined) throw new Error(traceOf(error));
    }
    const { status, score = Number.NaN } = outcome;
    if (status === "success" && !(score >= 0 && score <= 1)) {
      throw new Error(`${task.familyName} gave the score ${score}`);
    }
    return outcome;
  };
}

/** Where it happened. Error messages quote what they failed on, and samples do not belong in a log. */
function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return [error.name, ...frames].join("\n");
}

function toMicros(ms: number): number {
  return Math.round(ms * 1000);
}
