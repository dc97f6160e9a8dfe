import { join } from "node:path";
import { readMemory } from "../host/process-account.ts";
import { runInFlight } from "../load/run-in-flight.ts";
import { workDirectory } from "../paths.ts";
import type { ProcessGroup } from "../processes.ts";
import { type StartedName, startTarget } from "../targets/start-target.ts";
import type { Upstream } from "../targets/start-upstream.ts";
import type { PredictionsPlan } from "./plan-predictions.ts";

export interface InFlightResult {
  readonly sent: number;
  readonly succeeded: number;
  readonly failures: readonly string[];
  /** Maximum number of concurrent requests at the upstream. */
  readonly peakAtUpstream: number;
  readonly durationMs: number;
  readonly slowestMs: number;
  readonly peakRssBytes: number;
}

/** Uses a new process, so that its high-water mark is that of this load alone. */
export const measureInFlight = async (
  group: ProcessGroup,
  upstream: Upstream,
  name: StartedName,
  { rollouts, steps, delayMs }: PredictionsPlan["inFlight"],
): Promise<InFlightResult> => {
  await upstream.set(delayMs);
  const directory = join(workDirectory, `${name}-in-flight`);
  const target = await startTarget(group, name, upstream.origin, directory);
  const outcome = await runInFlight(group, target.request, { rollouts, steps });
  const { peakRssBytes } = readMemory(target.process.pid);
  const { peakInFlight } = await upstream.read();
  await group.stop(target.process);

  const failures = Object.entries(outcome.failures).map(([why, times]) => `${times} x ${why}`);
  const sent = rollouts * steps;
  const problem = failures.length > 0 ? `  FAILED: ${failures.slice(0, 5).join(", ")}` : "";
  const figures = `${outcome.succeeded} of ${sent}, ${(peakRssBytes / 1e6).toFixed(0)} MB, ${peakInFlight} at once`;
  process.stdout.write(
    `in flight  ${name}: ${figures}, ${(outcome.durationMs / 1000).toFixed(1)} s${problem}\n`,
  );
  return { ...outcome, sent, failures, peakAtUpstream: peakInFlight, peakRssBytes };
};
