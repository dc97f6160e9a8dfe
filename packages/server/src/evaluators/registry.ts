import type { Family, RuleFamily } from "./family.ts";
import { bleu } from "./rules/bleu.ts";
import { contains } from "./rules/contains.ts";
import { editDistance } from "./rules/edit-distance.ts";
import { exactMatch } from "./rules/exact-match.ts";
import { jsonMatch } from "./rules/json-match.ts";
import { jsonSchema } from "./rules/json-schema.ts";
import { numeric } from "./rules/numeric.ts";
import { pii } from "./rules/pii.ts";
import { regex } from "./rules/regex.ts";
import { rougeL } from "./rules/rouge-l.ts";
import { stateChange } from "./rules/state-change.ts";
import { tokenF1 } from "./rules/token-f1.ts";

/** Families whose verdicts depend on the sample and the profile alone. A new family is a file and a line here. */
export const ruleFamilies: readonly RuleFamily[] = [
  exactMatch,
  contains,
  regex,
  jsonSchema,
  jsonMatch,
  editDistance,
  tokenF1,
  rougeL,
  bleu,
  numeric,
  pii,
  stateChange,
];

/** One version of a family, as callers name it. */
export interface RegisteredEvaluator {
  id: string;
  family: Family;
}

export type Registry = ReturnType<typeof createRegistry>;

export function createRegistry(families: readonly Family[]) {
  const evaluators = families.flatMap((family) =>
    family.versions.map((version) => ({ id: `${family.name}-${version}`, family })),
  );
  const byName = new Map(evaluators.map((evaluator) => [evaluator.id, evaluator]));
  for (const evaluator of evaluators.toReversed()) byName.set(evaluator.family.name, evaluator);
  const familiesByName = new Map(families.map((family) => [family.name, family]));
  return {
    families,
    /** Every version of every family; of each family the newest first. */
    evaluators,
    /** Finds an evaluator by its id, or a family's newest by the family's name. */
    find: (idOrAlias: string): RegisteredEvaluator | undefined => byName.get(idOrAlias),
    findFamily: (name: string): Family | undefined => familiesByName.get(name),
  };
}
