import type { RuleFamily } from "../evaluators/family.ts";

/** A config that has passed its family's schema; it can cross to another thread. */
export interface ConfigCheckTask {
  familyName: string;
  config: unknown;
}

/** What the heavy part of a config's check has against it. */
export function checkHeavily(
  families: readonly RuleFamily<unknown>[],
  { familyName, config }: ConfigCheckTask,
): string | undefined {
  try {
    families.find(({ name }) => name === familyName)?.expensiveCheck?.run(config);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : "it cannot be checked";
  }
}
