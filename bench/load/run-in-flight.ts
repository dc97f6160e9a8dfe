import { join } from "node:path";
import { benchDirectory } from "../paths.ts";
import { completionExcerpt } from "../payload.ts";
import type { ProcessGroup } from "../processes.ts";
import type { LoadRequest } from "../targets/target.ts";

export interface InFlightOutcome {
  readonly succeeded: number;
  /** Number of failures by cause. */
  readonly failures: Readonly<Record<string, number>>;
  readonly durationMs: number;
  readonly slowestMs: number;
}

const deadlineMs = 60_000;

export const runInFlight = async (
  group: ProcessGroup,
  request: LoadRequest,
  load: { readonly rollouts: number; readonly steps: number },
): Promise<InFlightOutcome> => {
  const { stdout, stderr, exitCode } = await group.runCommand({
    argv: ["node", join(benchDirectory, "load", "in-flight-client.mjs")],
    input: JSON.stringify({ ...request, ...load, deadlineMs, expect: completionExcerpt }),
  });
  if (exitCode !== 0) throw new Error(`the client of the predictions in flight failed: ${stderr}`);
  return JSON.parse(stdout) as InFlightOutcome;
};
