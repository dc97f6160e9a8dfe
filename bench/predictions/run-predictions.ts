import { join } from "node:path";
import { type Memory, readMemory } from "../host/process-account.ts";
import { workDirectory } from "../paths.ts";
import type { ProcessGroup } from "../processes.ts";
import { chatRequest } from "../targets/chat-request.ts";
import { type StartedName, startTarget } from "../targets/start-target.ts";
import type { Upstream } from "../targets/start-upstream.ts";
import type { TargetName } from "../targets/target.ts";
import { verifyTarget } from "../targets/verify-target.ts";
import { type InFlightResult, measureInFlight } from "./measure-in-flight.ts";
import { measureRounds } from "./measure-rounds.ts";
import { measureStart, type StartTimes } from "./measure-start.ts";
import type { PredictionsPlan } from "./plan-predictions.ts";
import type { RunningTarget } from "./running-target.ts";
import type { Sample } from "./sample.ts";

export type ByTarget<Value> = ReadonlyMap<StartedName, Value>;

export interface PredictionsResult {
  readonly targets: readonly TargetName[];
  readonly samples: readonly Sample[];
  readonly starts: ByTarget<StartTimes>;
  readonly atRest: ByTarget<Memory>;
  readonly afterLoad: ByTarget<Memory>;
  readonly inFlight: ByTarget<InFlightResult>;
}

/** The same predictions through each target. */
export const runPredictions = async (
  group: ProcessGroup,
  upstream: Upstream,
  names: readonly TargetName[],
  plan: PredictionsPlan,
): Promise<PredictionsResult> => {
  const startedNames = names.filter((name): name is StartedName => name !== "direct");

  const starts = new Map<StartedName, StartTimes>();
  for (const name of startedNames) {
    starts.set(name, await measureStart(group, upstream.origin, name, plan.startRuns));
  }

  const servers = new Map<StartedName, RunningTarget>();
  const started = [];
  for (const name of startedNames) {
    const { process, request } = await startTarget(group, name, upstream.origin, join(workDirectory, name));
    servers.set(name, { name, pid: process.pid, request });
    started.push(process);
  }
  const measureMemory = async (): Promise<ByTarget<Memory>> => {
    await Bun.sleep(plan.settleMs);
    return new Map([...servers].map(([name, { pid }]) => [name, readMemory(pid)]));
  };
  const atRest = await measureMemory();

  const direct = {
    name: "direct" as const,
    pid: upstream.process.pid,
    request: chatRequest(upstream.origin),
  };
  const running = [...(names.includes("direct") ? [direct] : []), ...servers.values()];
  for (const target of running) await verifyTarget(target.name, target.request, upstream);
  const samples = await measureRounds(group, upstream, running, plan);
  const afterLoad = await measureMemory();
  await Promise.all(started.map(group.stop));

  const inFlight = new Map<StartedName, InFlightResult>();
  for (const name of startedNames) {
    inFlight.set(name, await measureInFlight(group, upstream, name, plan.inFlight));
  }
  return { targets: names, samples, starts, atRest, afterLoad, inFlight };
};
