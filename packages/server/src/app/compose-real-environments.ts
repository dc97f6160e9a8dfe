import type { Config } from "../config/config.ts";
import { parseRealEnvironments } from "../config/real-environments.ts";
import { readSettingsFile } from "../config/yaml-file.ts";
import { type JudgeServices, matches } from "../environments/judge.ts";
import type { Logger } from "../platform/observability/logger.ts";
import type { RealEnvironmentSettings, RealEnvironments } from "../reality/real/real-environment.ts";
import { createRealEnvironments } from "../reality/real/real-environments.ts";
import { readAgain } from "./compose-deployments.ts";
import { shareOf } from "./workers.ts";

export interface ComposedRealEnvironments {
  realEnvironments: RealEnvironments;
  /** Reads the file again. A file with an issue changes nothing and is logged. */
  reread(): Promise<void>;
}

/** The real environments of the file; none without one. */
export async function composeRealEnvironments(
  config: Config,
  logger: Pick<Logger, "info" | "error">,
  { runEvaluator }: Pick<JudgeServices, "runEvaluator">,
): Promise<ComposedRealEnvironments> {
  // Texts of real environments share the threads as if they were of one more account.
  const requester = { accountId: "real environments", signal: new AbortController().signal };
  const realEnvironments = createRealEnvironments(await readRealEnvironments(config), (pattern, text) =>
    matches({ runEvaluator }, requester, pattern, text),
  );
  return {
    realEnvironments,
    reread: () =>
      readAgain(logger, "real environments", async () => {
        realEnvironments.replace(await readRealEnvironments(config));
        return { realEnvironments: realEnvironments.all().map(({ name }) => name) };
      }),
  };
}

export async function readRealEnvironments({
  realEnvironments: file,
  workers,
}: Pick<Config, "realEnvironments" | "workers">): Promise<RealEnvironmentSettings[]> {
  if (file === undefined) return [];
  const text = await readSettingsFile("PRESAGE_REAL_ENVIRONMENTS", file.path);
  return parseRealEnvironments(file.path, text, file.environment).map((settings) => ({
    ...settings,
    maxInFlight: shareOf(settings.maxInFlight, workers),
  }));
}
