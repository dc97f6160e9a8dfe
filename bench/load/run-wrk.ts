import { join } from "node:path";
import { benchDirectory, workDirectory } from "../paths.ts";
import type { ProcessGroup } from "../processes.ts";
import type { LoadRequest } from "../targets/target.ts";

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
  const script = ["-s", join(benchDirectory, "load", scriptName)];
  const { stdout, stderr, exitCode } = await group.runCommand({
    argv: ["wrk", ...options, ...script, request.url, "--", bodyFile, ...headers],
    env: { BENCH_PORTS: ports.join(" ") },
  });
  if (exitCode !== 0 || !stderr.startsWith("{"))
    throw new Error(`wrk failed (${exitCode}): ${stdout}${stderr}`);
  return JSON.parse(stderr) as WrkResult;
};
