import { join } from "node:path";
import { completionExcerpt } from "./payload.ts";
import { type ProcessGroup, programFile, workDirectory } from "./processes.ts";
import type { LoadRequest } from "./targets.ts";

export interface WrkResult {
  readonly durationUs: number;
  readonly requests: number;
  readonly p50Us: number;
  readonly p90Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
  /** `status` counts responses with 400 or above, the others failed sockets. */
  readonly errors: Readonly<Record<"connect" | "read" | "write" | "status" | "timeout", number>>;
}

/**
 * One thread is enough to saturate any target here, and leaves the other core to the target. With `ports`, there is one for
 * each, with an equal part of the connections.
 */
export const runWrk = async (
  group: ProcessGroup,
  request: LoadRequest,
  connections: number,
  durationS: number,
  scriptName: "predict.lua" | "evaluate.lua" = "predict.lua",
  ports: readonly number[] = [],
): Promise<WrkResult> => {
  const bodyFile = join(workDirectory, "request-body.json");
  await Bun.write(bodyFile, request.body);
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  const options = [`-t${ports.length || 1}`, `-c${connections}`, `-d${durationS}s`, "--timeout", "30s"];
  const script = ["-s", programFile(scriptName)];
  const { stdout, stderr, exitCode } = await group.runCommand({
    argv: ["wrk", ...options, ...script, request.url, "--", bodyFile, ...headers],
    env: { BENCH_PORTS: ports.join(" ") },
  });
  if (exitCode !== 0 || !stderr.startsWith("{"))
    throw new Error(`wrk failed (${exitCode}): ${stdout}${stderr}`);
  return JSON.parse(stderr) as WrkResult;
};

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
    argv: ["node", programFile("in-flight-client.mjs")],
    input: JSON.stringify({ ...request, ...load, deadlineMs, expect: completionExcerpt }),
  });
  if (exitCode !== 0) throw new Error(`the client of the predictions in flight failed: ${stderr}`);
  return JSON.parse(stdout) as InFlightOutcome;
};

/** Does some work `count` times, always `concurrency` at once. */
export const atOnce = async (
  count: number,
  concurrency: number,
  work: (index: number) => Promise<void>,
): Promise<void> => {
  let next = 0;
  const workOn = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, workOn));
};
