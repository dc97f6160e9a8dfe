import type { z } from "zod";
import { ServiceError } from "../../platform/errors.ts";
import { EvaluationError } from "../evaluation-error.ts";
import type { Family } from "../family.ts";
import type { ConfigCheckTask } from "../rules/run-rule.ts";

const mark = Symbol("checked");

/** A config that its family accepts. Only `checkConfig` makes one, so nothing else can be stored. */
export interface CheckedConfig {
  readonly family: Family;
  /** What the caller sent, as JSON: without the family's defaults. */
  readonly json: string;
  readonly [mark]: true;
}

export interface InvalidConfig {
  issues: readonly z.core.$ZodIssue[];
}

/** Runs the expensive part of a check outside the main thread. Returns what is wrong, if anything. */
export type CheckInThread = (task: ConfigCheckTask) => Promise<string | undefined>;

/** Checks a config against its family's schema; `wording` is zod's error map for what is invalid. */
export async function checkConfig(
  family: Family,
  config: object,
  wording: z.core.$ZodErrorMap,
  checkInThread: CheckInThread,
): Promise<CheckedConfig | InvalidConfig> {
  const json = JSON.stringify(config);
  // Checks what evaluations will read, where long integers are plain numbers.
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

/** A config that takes too long to check is invalid; a lack of free threads is not its fault. */
async function settle(checking: Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await checking;
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    if (error.code === "timeout") return "Checking the config takes too long; simplify it";
    if (error.code === "overloaded") throw new ServiceError("overloaded", error.message, { retryAfterS: 1 });
    throw error;
  }
}
