import type { EnvironmentConfig } from "@presage/contract";
import type { EnvironmentServices } from "./environment-services.ts";

/** A field of an environment that cannot be used, and why. */
export class InvalidEnvironmentError extends Error {
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], message: string) {
    super(message);
    this.name = "InvalidEnvironmentError";
    this.path = path;
  }
}

/** Checks what an environment's schema cannot: that what it names exists, and that its patterns compile. */
export async function checkConfig(
  services: Pick<EnvironmentServices, "hasDeployment" | "findPatternIssue" | "findEvaluatorIssue">,
  accountId: string,
  { deployment, params, stop, reward }: EnvironmentConfig,
): Promise<void> {
  if (typeof deployment === "string" && !services.hasDeployment(deployment))
    throw new InvalidEnvironmentError(["deployment"], "There is no deployment of this name");
  if (params?.stream === true)
    throw new InvalidEnvironmentError(["params", "stream"], "Streaming is not supported");
  for (const [name, value] of Object.entries(params ?? {})) {
    if (Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new InvalidEnvironmentError(["params", name], "An integer this large would lose digits");
  }
  for (const [index, rule] of (stop ?? []).entries()) {
    for (const [field, pattern] of Object.entries(rule)) {
      const issue = field.endsWith("_matches") ? services.findPatternIssue(pattern) : undefined;
      if (issue !== undefined) throw new InvalidEnvironmentError(["stop", index, field], issue);
    }
  }
  if (reward) {
    const wanted = { evaluator: reward.evaluator, profileName: reward.profile_name ?? undefined };
    const issue = await services.findEvaluatorIssue(accountId, wanted);
    if (issue !== undefined) throw new InvalidEnvironmentError(["reward", issue.field], issue.message);
  }
}
