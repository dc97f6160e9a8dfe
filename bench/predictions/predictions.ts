import { join } from "node:path";
import { median } from "../lib/figures.ts";
import { runInFlight, runWrk, type WrkResult } from "../lib/load.ts";
import { type ProcessGroup, workDirectory } from "../lib/processes.ts";
import {
  chatRequest,
  type LoadRequest,
  type StartedName,
  startTarget,
  type TargetName,
  verifyTarget,
} from "../lib/targets.ts";
import type { Upstream } from "../lib/upstream.ts";
import { type Memory, readCpuMs, readMemory } from "../lib/usage.ts";

/** One row of the tables: a number of connections and the upstream's delay. */
export interface Scenario {
  readonly connections: number;
  readonly delayMs: number;
  readonly durationS: number;
}

export interface PredictionsPlan {
  readonly rounds: number;
  readonly warmUpS: number;
  /** Before the first round, so that Bun and Node have compiled their hot paths. */
  readonly firstWarmUpS: number;
  readonly scenarios: readonly Scenario[];
  readonly startRuns: number;
  /** Concurrent rollouts, each sending its steps one after the other. */
  readonly inFlight: { readonly rollouts: number; readonly steps: number; readonly delayMs: number };
  readonly settleMs: number;
}

interface Durations {
  readonly oneS: number;
  readonly manyS: number;
  readonly crowdS: number;
}

const scenariosOf = (delayMs: number, { oneS, manyS, crowdS }: Durations): Scenario[] => [
  { connections: 1, delayMs, durationS: oneS },
  { connections: 32, delayMs, durationS: manyS },
  { connections: 256, delayMs, durationS: crowdS },
];

export const fullPredictionsPlan: PredictionsPlan = {
  rounds: 3,
  warmUpS: 1,
  firstWarmUpS: 4,
  // Processor time is counted in ticks of 10 ms: 6 s under load are some hundreds.
  scenarios: [
    ...scenariosOf(0, { oneS: 3, manyS: 6, crowdS: 4 }),
    ...scenariosOf(50, { oneS: 2, manyS: 4, crowdS: 4 }),
  ],
  startRuns: 5,
  inFlight: { rollouts: 5000, steps: 3, delayMs: 1000 },
  settleMs: 3000,
};

export const quickPredictionsPlan: PredictionsPlan = {
  rounds: 1,
  warmUpS: 1,
  firstWarmUpS: 1,
  scenarios: [
    ...scenariosOf(0, { oneS: 1, manyS: 2, crowdS: 1 }),
    ...scenariosOf(50, { oneS: 1, manyS: 1, crowdS: 1 }),
  ],
  startRuns: 3,
  inFlight: { rollouts: 5000, steps: 3, delayMs: 1000 },
  settleMs: 1000,
};

export interface RunningTarget {
  readonly name: TargetName;
  readonly pid: number;
  readonly request: LoadRequest;
}

/** One run of wrk against one target. */
export interface Sample {
  readonly target: TargetName;
  readonly scenario: Scenario;
  readonly round: number;
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Undefined if too little was used to measure in ticks of 10 ms. */
  readonly cpuUsPerRequest: number | undefined;
  /** A problem that invalidates the figure: an error, or a response that did not come from the upstream. */
  readonly problem: string | undefined;
}

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

const measureLoad = async (
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

const warmUpConnections = 32;

const describe = ({ target, scenario, round, ...figures }: Sample): string => {
  const { connections, delayMs } = scenario;
  const cpu = figures.cpuUsPerRequest === undefined ? "" : `, ${figures.cpuUsPerRequest.toFixed(1)} us CPU`;
  const rate = `${figures.requestsPerSecond.toFixed(0)}/s, p50 ${figures.p50Us} us, p99 ${figures.p99Us} us${cpu}`;
  const problem = figures.problem === undefined ? "" : `  FAILED: ${figures.problem}`;
  return `round ${round + 1}  ${delayMs} ms  ${connections} connections  ${target}: ${rate}${problem}\n`;
};

/**
 * Targets that are compared are measured within seconds of each other, and none is always first: a noisy machine drifts,
 * so a figure only means something next to its neighbours.
 */
const measureRounds = async (
  group: ProcessGroup,
  upstream: Upstream,
  targets: readonly RunningTarget[],
  plan: PredictionsPlan,
): Promise<Sample[]> => {
  await upstream.set(0);
  for (const target of targets) await runWrk(group, target.request, warmUpConnections, plan.firstWarmUpS);

  const samples: Sample[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    const first = round % targets.length;
    const order = [...targets.slice(first), ...targets.slice(0, first)];
    for (const scenario of plan.scenarios) {
      for (const target of order) {
        const measured = await measureLoad(group, upstream, target, scenario, plan.warmUpS);
        const sample = { ...measured, round };
        process.stdout.write(describe(sample));
        samples.push(sample);
      }
    }
  }
  return samples;
};

export interface StartTimes {
  /** With nothing on disk: Presage creates its database. */
  readonly firstMs: number;
  readonly againMs: number;
}

/** From the spawn until it reports that it is ready. Each run has its own directory and starts in it twice. */
const measureStart = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  name: StartedName,
  runs: number,
): Promise<StartTimes> => {
  const startOnce = async (run: number): Promise<number> => {
    const directory = join(workDirectory, `${name}-start-${run}`);
    const { process, readyAfterMs } = await startTarget(group, name, upstreamOrigin, directory);
    await group.stop(process);
    return readyAfterMs;
  };
  const first: number[] = [];
  const again: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    first.push(await startOnce(run));
    again.push(await startOnce(run));
  }
  const times = { firstMs: median(first), againMs: median(again) };
  process.stdout.write(
    `start  ${name}: ${times.firstMs.toFixed(0)} ms, again ${times.againMs.toFixed(0)} ms\n`,
  );
  return times;
};

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
const measureInFlight = async (
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
