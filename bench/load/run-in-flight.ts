import { join } from "node:path";
import { benchDirectory } from "../paths.ts";
import { answerExcerpt } from "../payload.ts";
import type { ProcessGroup } from "../processes.ts";
import type { LoadRequest } from "../targets/target.ts";

export interface InFlightAnswer {
  readonly succeeded: number;
  /** How often each way of failing was seen. */
  readonly failures: Readonly<Record<string, number>>;
  readonly durationMs: number;
  readonly slowestMs: number;
}

const deadlineMs = 60_000;

export const runInFlight = async (
  group: ProcessGroup,
  request: LoadRequest,
  load: { readonly rollouts: number; readonly steps: number },
): Promise<InFlightAnswer> => {
  const { stdout, stderr, exitCode } = await group.runCommand({
    argv: ["node", join(benchDirectory, "load", "in-flight-client.mjs")],
    input: JSON.stringify({ ...request, ...load, deadlineMs, expect: answerExcerpt }),
  });
  if (exitCode !== 0) throw new Error(`the client of the predictions in flight failed: ${stderr}`);
  return JSON.parse(stdout) as InFlightAnswer;
};
