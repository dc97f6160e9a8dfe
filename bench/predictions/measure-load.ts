import { readCpuMs } from "../host/process-account.ts";
import { runWrk, type WrkResult } from "../load/run-wrk.ts";
import type { ProcessGroup } from "../processes.ts";
import type { Upstream } from "../targets/start-upstream.ts";
import type { Scenario } from "./plan-predictions.ts";
import type { RunningTarget } from "./running-target.ts";
import type { Sample } from "./sample.ts";

/** 20 ticks, so that rounding is at most 5 %. */
export const leastCpuMs = 200;
const quietForMs = 60;

/** wrk exits without waiting for its last responses; its requests in progress are finished and counted first. */
export const waitUntilQuiet = async (upstream: Upstream): Promise<number> => {
  let before = await upstream.read();
  for (;;) {
    await Bun.sleep(quietForMs);
    const now = await upstream.read();
    if (now.inFlight === 0 && now.answered === before.answered) return now.answered;
    before = now;
  }
};

export const findLoadProblem = (
  wrk: WrkResult,
  answered: number,
  connections: number,
): string | undefined => {
  const errors = Object.entries(wrk.errors).filter(([, count]) => count > 0);
  if (errors.length > 0) return errors.map(([kind, count]) => `${count} ${kind} errors`).join(", ");
  if (wrk.requests === 0) return "no request succeeded";
  if (answered < wrk.requests) return `${wrk.requests} responses, but only ${answered} from the upstream`;
  if (answered > wrk.requests + connections)
    return `${wrk.requests} responses took ${answered} upstream requests`;
  return undefined;
};

export const measureLoad = async (
  group: ProcessGroup,
  upstream: Upstream,
  target: RunningTarget,
  scenario: Scenario,
  warmUpS: number,
): Promise<Omit<Sample, "round">> => {
  const { connections, delayMs, durationS } = scenario;
  await upstream.set(delayMs);
  await runWrk(group, target.request, connections, warmUpS);
  await waitUntilQuiet(upstream);

  await upstream.set(delayMs);
  const cpuBeforeMs = readCpuMs(target.pid);
  const wrk = await runWrk(group, target.request, connections, durationS);
  const answered = await waitUntilQuiet(upstream);
  const cpuMs = readCpuMs(target.pid) - cpuBeforeMs;

  return {
    target: target.name,
    scenario,
    requestsPerSecond: (wrk.requests / wrk.durationUs) * 1e6,
    p50Us: wrk.p50Us,
    p99Us: wrk.p99Us,
    cpuUsPerRequest: cpuMs >= leastCpuMs && answered > 0 ? (cpuMs * 1000) / answered : undefined,
    problem: findLoadProblem(wrk, answered, connections),
  };
};
