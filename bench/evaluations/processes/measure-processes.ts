import { join } from "node:path";
import { readCpuMs } from "../../host/process-account.ts";
import { runWrk } from "../../load/run-wrk.ts";
import { workDirectory } from "../../paths.ts";
import type { ProcessGroup } from "../../processes.ts";
import { type Postgres, startPostgres } from "../search/start-postgres.ts";
import { type RunningPresage, startPresage } from "../start-presage.ts";
import { evaluateBodies } from "../throughput/sample-texts.ts";
import { type WaitShares, watchWaits } from "./watch-waits.ts";

export interface ProcessesPlan {
  readonly rounds: number;
  /** Numbers of processes that share the database. The others are compared with the first. */
  readonly counts: readonly number[];
  readonly connectionsOfEach: number;
  /** Requests to each process before measuring, so that its JIT has compiled the hot paths. */
  readonly warmUpRequests: number;
  readonly durationS: number;
}

export const fullProcessesPlan: ProcessesPlan = {
  rounds: 3,
  counts: [1, 2, 4],
  connectionsOfEach: 32,
  warmUpRequests: 8_000,
  durationS: 8,
};

export const quickProcessesPlan: ProcessesPlan = {
  ...fullProcessesPlan,
  rounds: 1,
  warmUpRequests: 1_000,
  durationS: 3,
};

const warmUpSliceS = 2;
const longestWarmUpMs = 90_000;

export interface ProcessesSample extends WaitShares {
  readonly round: number;
  readonly processes: number;
  /** 1 if the processes share a database; for comparison, one for each, so that they share only the machine. */
  readonly databases: number;
  readonly requestsPerSecond: number;
  /** For all of Presage's processes together. */
  readonly cpuUsPerRequest: number;
  readonly postgresCpuUsPerRequest: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly problem: string | undefined;
}

export interface ProcessesResult {
  readonly samples: readonly ProcessesSample[];
  /** Why nothing was measured. */
  readonly notMeasured: string | undefined;
}

export const measureProcesses = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  plan: ProcessesPlan,
): Promise<ProcessesResult> => {
  const runs = Array.from({ length: plan.rounds }, (_, round) =>
    // In a different order in each round, so that a temporary slowdown of the machine hits different ones.
    inTurn(round, [
      ...plan.counts.map((processes) => ({ round, processes, databases: 1 })),
      { round, processes: Math.max(...plan.counts), databases: Math.max(...plan.counts) },
    ]),
  ).flat();
  const postgres = await startPostgres(
    group,
    runs.reduce((sum, { databases }) => sum + databases, 0),
  );
  if (postgres === undefined) return { samples: [], notMeasured: "PostgreSQL does not run on this machine" };
  const samples: ProcessesSample[] = [];
  const fresh = [...postgres.urls];
  for (const run of runs) {
    const urls = fresh.splice(0, run.databases);
    const sample = await measureRun(group, upstreamOrigin, { ...run, postgres, urls }, plan);
    samples.push(sample);
    const problem = sample.problem === undefined ? "" : `  FAILED: ${sample.problem}`;
    process.stdout.write(
      `processes  round ${run.round + 1}, ${run.processes} on ${run.databases}: ${sample.requestsPerSecond.toFixed(0)}/s, ` +
        `${sample.cpuUsPerRequest.toFixed(0)} µs (PostgreSQL ${sample.postgresCpuUsPerRequest.toFixed(0)} µs) a request, ` +
        `waiting for locks ${(100 * sample.lockShare).toFixed(1)} %, for latches ${(100 * sample.latchShare).toFixed(1)} %${problem}\n`,
    );
  }
  await group.stop(postgres.process);
  return { samples, notMeasured: undefined };
};

const inTurn = <Value>(round: number, values: Value[]): Value[] =>
  round % 2 === 0 ? values : values.toReversed();

interface Run {
  readonly round: number;
  readonly processes: number;
  readonly databases: number;
  readonly postgres: Postgres;
  /** Empty databases. */
  readonly urls: readonly string[];
}

const measureRun = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  { round, processes, databases, postgres, urls }: Run,
  { connectionsOfEach, warmUpRequests, durationS }: ProcessesPlan,
): Promise<ProcessesSample> => {
  const started: RunningPresage[] = [];
  for (let number = 0; number < processes; number += 1) {
    const directory = join(workDirectory, `processes-${round}-${processes}-${databases}-${number}`);
    started.push(await startPresage(group, upstreamOrigin, directory, urls[number % databases] ?? ""));
  }
  const load = (seconds: number) =>
    Promise.all(
      started.map(({ origin, headers }) =>
        runWrk(
          group,
          { url: `${origin}/v1/evaluate`, headers, body: evaluateBodies },
          connectionsOfEach,
          seconds,
          "evaluate.lua",
        ),
      ),
    );
  const warmedUp: number[] = started.map(() => 0);
  const cpuMs = () => ({
    presage: started.reduce((sum, { process }) => sum + readCpuMs(process.pid), 0),
    postgres: readCpuMs(postgres.process.pid),
  });
  for (const startedAtMs = performance.now(); performance.now() - startedAtMs < longestWarmUpMs; ) {
    for (const [index, { requests }] of (await load(warmUpSliceS)).entries())
      warmedUp[index] = (warmedUp[index] ?? 0) + requests;
    if (warmedUp.every((requests) => requests >= warmUpRequests)) break;
  }
  const waits = await watchWaits(urls[0] ?? "");
  const before = cpuMs();
  const loads = await load(durationS);
  const after = cpuMs();
  const shares = await waits.stop();
  await Promise.all(started.map(({ process }) => group.stop(process)));
  const requests = loads.reduce((sum, wrk) => sum + wrk.requests, 0);
  const failures = loads.flatMap(({ errors }) =>
    Object.entries(errors).flatMap(([kind, count]) => (count > 0 ? [`${count} ${kind} errors`] : [])),
  );
  return {
    round,
    processes,
    databases,
    requestsPerSecond: loads.reduce((sum, wrk) => sum + (wrk.requests / wrk.durationUs) * 1e6, 0),
    cpuUsPerRequest: ((after.presage - before.presage) * 1000) / requests,
    postgresCpuUsPerRequest: ((after.postgres - before.postgres) * 1000) / requests,
    p50Us: Math.max(...loads.map(({ p50Us }) => p50Us)),
    p99Us: Math.max(...loads.map(({ p99Us }) => p99Us)),
    ...shares,
    problem: failures.length === 0 ? undefined : failures.join(", "),
  };
};
