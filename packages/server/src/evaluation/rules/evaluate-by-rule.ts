import type { ExplainStrategy } from "@presage/contract";
import { LRUCache } from "lru-cache";
import { isExplained } from "../evaluate/is-explained.ts";
import type { RuleFamily, Verdict } from "../evaluators/family.ts";
import type { Sample } from "../sample.ts";

/** A verdict as plain data, with the time that it took. */
export interface TimedVerdict extends Omit<Verdict, "explain"> {
  explanation?: string;
  evaluationMicros: number;
  explanationMicros?: number;
}

/** What an evaluation by rule is made from; all of it can cross to another thread. */
export interface RuleTask {
  familyName: string;
  /** As the family's schema gave it. */
  config: unknown;
  sample: Sample;
  explainStrategy: ExplainStrategy;
}

const maxPreparedConfigs = 500;
const maxPreparedCharacters = 4_000_000;

/** Evaluates in the thread that calls it. A config is prepared once for as long as it is in use. */
export function createRuleEvaluator(families: readonly RuleFamily<unknown>[]) {
  const familiesByName = new Map(families.map((family) => [family.name, family]));
  const prepared = new LRUCache<string, (sample: Sample) => Verdict>({
    max: maxPreparedConfigs,
    maxSize: maxPreparedCharacters,
    sizeCalculation: (_, key) => key.length,
  });

  function prepare(familyName: string, config: unknown): (sample: Sample) => Verdict {
    // The schema gives a config's fields in one order, so that equal configs have equal texts.
    const key = `${familyName} ${JSON.stringify(config)}`;
    const known = prepared.get(key);
    if (known !== undefined) return known;
    const family = familiesByName.get(familyName);
    if (family === undefined) throw new Error(`There is no family ${familyName}`);
    const evaluate = family.prepare(config);
    prepared.set(key, evaluate);
    return evaluate;
  }

  return ({ familyName, config, sample, explainStrategy }: RuleTask): TimedVerdict => {
    const startedAtMs = performance.now();
    const { explain, ...verdict } = prepare(familyName, config)(sample);
    if (!(verdict.score >= 0 && verdict.score <= 1)) {
      throw new Error(`${familyName} gave the score ${verdict.score}`);
    }
    const evaluatedAtMs = performance.now();
    const timed = { ...verdict, evaluationMicros: toMicros(evaluatedAtMs - startedAtMs) };
    if (!isExplained(explainStrategy, verdict.pass)) return timed;
    const explanation = explain();
    return { ...timed, explanation, explanationMicros: toMicros(performance.now() - evaluatedAtMs) };
  };
}

function toMicros(ms: number): number {
  return Math.round(ms * 1000);
}
