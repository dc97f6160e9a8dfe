import { join } from "node:path";
import { median, showProblem } from "../lib/figures.ts";
import {
  type InFlightOutcome,
  type LoadSample,
  measurePredictions,
  runInFlight,
  runWrk,
} from "../lib/load.ts";
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
import { type Memory, readMemory } from "../lib/usage.ts";

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

/** Seconds of load with 1, 32 and 256 connections. */
const scenariosOf = (delayMs: number, ...durationsS: readonly [number, number, number]): Scenario[] =>
  [1, 32, 256].map((connections, index) => ({ connections, delayMs, durationS: durationsS[index] ?? 0 }));

export const fullPredictionsPlan: PredictionsPlan = {
  rounds: 3,
  warmUpS: 1,
  firstWarmUpS: 4,
  // Processor time is counted in ticks of 10 ms: 6 s under load are some hundreds.
  scenarios: [...scenariosOf(0, 3, 6, 4), ...scenariosOf(50, 2, 4, 4)],
  startRuns: 5,
  inFlight: { rollouts: 5000, steps: 3, delayMs: 1000 },
  settleMs: 3000,
};

export const quickPredictionsPlan: PredictionsPlan = {
  ...fullPredictionsPlan,
  rounds: 1,
  firstWarmUpS: 1,
  scenarios: [...scenariosOf(0, 1, 2, 1), ...scenariosOf(50, 1, 1, 1)],
  startRuns: 3,
  settleMs: 1000,
};

/** One run of wrk against one target. */
export interface Sample extends LoadSample {
  readonly target: string;
  readonly scenario: Scenario;
  readonly round: number;
}

interface StartTimes {
  /** The first start, with an empty disk: Presage creates its database. */
  readonly firstMs: number;
  readonly againMs: number;
}

export interface InFlightResult extends InFlightOutcome {
  readonly sent: number;
  /** Maximum number of concurrent requests at the upstream. */
  readonly peakAtUpstream: number;
  readonly peakRssBytes: number;
}

type ByTarget<Value> = ReadonlyMap<StartedName, Value>;

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
  targets: readonly TargetName[],
  plan: PredictionsPlan,
): Promise<PredictionsResult> => {
  const startedNames = targets.filter((name): name is StartedName => name !== "direct");

  const starts = new Map<StartedName, StartTimes>();
  for (const name of startedNames)
    starts.set(name, await measureStart(group, upstream.origin, name, plan.startRuns));

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

  const request = chatRequest(upstream.origin);
  const direct: RunningTarget = { name: "direct", pid: upstream.process.pid, request };
  const running = [...(targets.includes("direct") ? [direct] : []), ...servers.values()];
  for (const target of running) await verifyTarget(target.name, target.request, upstream);
  await warmUp(group, upstream, running, plan.firstWarmUpS);
  const samples: Sample[] = [];
  for (let round = 0; round < plan.rounds; round += 1)
    samples.push(...(await measureRound(group, upstream, running, plan, round)));
  const afterLoad = await measureMemory();
  await Promise.all(started.map(group.stop));

  const inFlight = new Map<StartedName, InFlightResult>();
  for (const name of startedNames)
    inFlight.set(name, await measureInFlight(group, upstream, name, plan.inFlight));
  return { targets, samples, starts, atRest, afterLoad, inFlight };
};

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
  const [first, again]: [number[], number[]] = [[], []];
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

export interface RunningTarget {
  readonly name: string;
  readonly pid: number;
  readonly request: LoadRequest;
  readonly quietForMs?: number | undefined;
}

const warmUpConnections = 32;

/** Before its first round a target compiles its hot paths. */
export const warmUp = async (
  group: ProcessGroup,
  upstream: Upstream,
  targets: readonly RunningTarget[],
  seconds: number,
): Promise<void> => {
  await upstream.set(0);
  for (const { request } of targets) await runWrk(group, request, warmUpConnections, seconds);
};

/**
 * Targets that are compared are measured within seconds of each other, and none is always first: a noisy machine drifts,
 * so a figure only means something next to its neighbours.
 */
export const measureRound = async (
  group: ProcessGroup,
  upstream: Upstream,
  targets: readonly RunningTarget[],
  { scenarios, warmUpS }: Pick<PredictionsPlan, "warmUpS" | "scenarios">,
  round: number,
): Promise<Sample[]> => {
  const first = round % targets.length;
  const order = [...targets.slice(first), ...targets.slice(0, first)];
  const samples: Sample[] = [];
  for (const scenario of scenarios) {
    for (const { name, pid, request, quietForMs } of order) {
      const run = (durationS: number) => runWrk(group, request, scenario.connections, durationS);
      const load = { run, pids: [pid], warmUpS, quietForMs, ...scenario };
      const sample = { ...(await measurePredictions(upstream, load)), target: name, scenario, round };
      process.stdout.write(describe(sample));
      samples.push(sample);
    }
  }
  return samples;
};

const describe = ({ target, scenario, round, ...figures }: Sample): string => {
  const { connections, delayMs } = scenario;
  const cpu = figures.cpuUsPerRequest === undefined ? "" : `, ${figures.cpuUsPerRequest.toFixed(1)} us CPU`;
  const rate = `${figures.requestsPerSecond.toFixed(0)}/s, p50 ${figures.p50Us} us, p99 ${figures.p99Us} us${cpu}`;
  return `round ${round + 1}  ${delayMs} ms  ${connections} connections  ${target}: ${rate}${showProblem(figures.problem)}\n`;
};

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
  const { peakInFlight: peakAtUpstream } = await upstream.read();
  await group.stop(target.process);

  const failures = Object.entries(outcome.failures).map(([why, times]) => `${times} x ${why}`);
  const sent = rollouts * steps;
  const problem = failures.length > 0 ? failures.slice(0, 5).join(", ") : undefined;
  const figures = `${outcome.succeeded} of ${sent}, ${(peakRssBytes / 1e6).toFixed(0)} MB, ${peakAtUpstream} at once`;
  process.stdout.write(
    `in flight  ${name}: ${figures}, ${(outcome.durationMs / 1000).toFixed(1)} s${showProblem(problem)}\n`,
  );
  return { ...outcome, sent, peakAtUpstream, peakRssBytes };
};
