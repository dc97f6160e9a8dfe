import type { z } from "zod";
import type { Family } from "../evaluators/family.ts";

const mark = Symbol("checked");

/** A config that its family takes. Only `checkConfig` makes one, so nothing else can be stored. */
export interface CheckedConfig {
  readonly family: Family;
  /** What the caller sent, as JSON: without the family's defaults. */
  readonly json: string;
  readonly [mark]: true;
}

export interface RefusedConfig {
  issues: readonly z.core.$ZodIssue[];
}

/** Checks a config against its family's schema; `wording` is zod's error map for what is refused. */
export function checkConfig(
  family: Family,
  config: object,
  wording: z.core.$ZodErrorMap,
): CheckedConfig | RefusedConfig {
  const json = JSON.stringify(config);
  // What is checked is what evaluations will read, where long integers are plain numbers.
  const parsed = family.config.safeParse(JSON.parse(json), { error: wording });
  return parsed.success ? { family, json, [mark]: true } : { issues: parsed.error.issues };
}
