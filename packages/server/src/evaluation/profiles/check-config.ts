import type { z } from "zod";
import { ServiceError } from "../../errors.ts";
import { EvaluationError } from "../evaluation-error.ts";
import type { Family } from "../evaluators/family.ts";
import type { ConfigCheckTask } from "../rules/run-rule.ts";

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

/** Does what of a check takes long, beside the main thread, and says what is wrong. */
export type CheckInThread = (task: ConfigCheckTask) => Promise<string | undefined>;

/** Checks a config against its family's schema; `wording` is zod's error map for what is refused. */
export async function checkConfig(
  family: Family,
  config: object,
  wording: z.core.$ZodErrorMap,
  checkInThread: CheckInThread,
): Promise<CheckedConfig | RefusedConfig> {
  const json = JSON.stringify(config);
  // What is checked is what evaluations will read, where long integers are plain numbers.
  const parsed = family.config.safeParse(JSON.parse(json), { error: wording });
  if (!parsed.success) return { issues: parsed.error.issues };
  const expensiveCheck = family.kind === "rule" ? family.expensiveCheck : undefined;
  if (expensiveCheck?.isNeeded(parsed.data)) {
    const message = await settle(checkInThread({ familyName: family.name, config: parsed.data }));
    if (message !== undefined) {
      return { issues: [{ code: "custom", path: [...expensiveCheck.path], message, input: undefined }] };
    }
  }
  return { family, json, [mark]: true };
}

/** A config that takes too long is at fault itself; that no thread is free is nobody's. */
async function settle(checking: Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await checking;
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    if (error.code === "timeout") return "It takes too long to check";
    if (error.code === "overloaded") throw new ServiceError("overloaded", error.message, { retryAfterS: 1 });
    throw error;
  }
}
