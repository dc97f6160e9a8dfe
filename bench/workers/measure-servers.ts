import { readCpuMsOfEach } from "../host/process-account.ts";
import { runWrk } from "../load/run-wrk.ts";
import { findLoadProblem, leastCpuMs, waitUntilQuiet } from "../predictions/measure-load.ts";
import type { Sample } from "../predictions/sample.ts";
import type { ProcessGroup } from "../processes.ts";
import type { StartedTarget } from "../targets/start-target.ts";
import type { Upstream } from "../targets/start-upstream.ts";

export interface ServersSample
  extends Pick<Sample, "requestsPerSecond" | "cpuUsPerRequest" | "p50Us" | "p99Us" | "problem"> {
  /** The processor time of the process that used most, as a part of all. */
  readonly busiestPart: number;
}

/** Predictions by one or two servers, by two threads of wrk that have half of the connections each, whichever servers these go to. */
export const measureServers = async (
  group: ProcessGroup,
  upstream: Upstream,
  servers: readonly StartedTarget[],
  load: { readonly connections: number; readonly warmUpS: number; readonly durationS: number },
): Promise<ServersSample> => {
  const [first] = servers;
  if (first === undefined) throw new Error("there is no server to measure");
  const ports = [first, servers.at(-1) ?? first].map(({ request }) => Number(new URL(request.url).port));
  const run = (durationS: number) =>
    runWrk(group, first.request, load.connections, durationS, "predict.lua", ports);
  const pids = servers.map(({ process }) => process.pid);

  await upstream.set(0);
  await run(load.warmUpS);
  await waitUntilQuiet(upstream);

  await upstream.set(0);
  const before = readCpuMsOfEach(pids);
  const wrk = await run(load.durationS);
  const answered = await waitUntilQuiet(upstream);
  const used = [...readCpuMsOfEach(pids)].map(([pid, cpuMs]) => cpuMs - (before.get(pid) ?? 0));
  const cpuMs = used.reduce((sum, one) => sum + one, 0);

  return {
    requestsPerSecond: (wrk.requests / wrk.durationUs) * 1e6,
    p50Us: wrk.p50Us,
    p99Us: wrk.p99Us,
    cpuUsPerRequest: cpuMs >= leastCpuMs && answered > 0 ? (cpuMs * 1000) / answered : undefined,
    busiestPart: Math.max(...used) / cpuMs,
    problem: findLoadProblem(wrk, answered, load.connections),
  };
};
