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
  /** How many processes share the database. The first is what the others are compared with. */
  readonly counts: readonly number[];
  readonly connectionsOfEach: number;
  /** So many requests to each, before the compiler of its runtime is through with the hot paths. */
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
  readonly requestsPerSecond: number;
  /** Of Presage's processes together. */
  readonly cpuUsPerRequest: number;
  readonly postgresCpuUsPerRequest: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly problem: string | undefined;
}

export interface ProcessesResult {
  readonly samples: readonly ProcessesSample[];
  /** Why there are none. */
  readonly notMeasured: string | undefined;
}

export const measureProcesses = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  plan: ProcessesPlan,
): Promise<ProcessesResult> => {
  const runs = Array.from({ length: plan.rounds }, (_, round) =>
    // In another order in each round: what slows the machine for a while slows now one, now another.
    (round % 2 === 0 ? plan.counts : plan.counts.toReversed()).map((processes) => ({ round, processes })),
  ).flat();
  const postgres = await startPostgres(group, runs.length);
  if (postgres === undefined) return { samples: [], notMeasured: "PostgreSQL does not run on this machine" };
  const samples: ProcessesSample[] = [];
  for (const [index, run] of runs.entries()) {
    const sample = await measureRun(
      group,
      upstreamOrigin,
      { ...run, postgres, url: postgres.urls[index] ?? "" },
      plan,
    );
    samples.push(sample);
    const problem = sample.problem === undefined ? "" : `  FAILED: ${sample.problem}`;
    process.stdout.write(
      `processes  round ${run.round + 1}, ${run.processes}: ${sample.requestsPerSecond.toFixed(0)}/s, ` +
        `${sample.cpuUsPerRequest.toFixed(0)} µs (PostgreSQL ${sample.postgresCpuUsPerRequest.toFixed(0)} µs) a request, ` +
        `waiting for locks ${(100 * sample.lockShare).toFixed(1)} %, for latches ${(100 * sample.latchShare).toFixed(1)} %${problem}\n`,
    );
  }
  await group.stop(postgres.process);
  return { samples, notMeasured: undefined };
};

interface Run {
  readonly round: number;
  readonly processes: number;
  readonly postgres: Postgres;
  /** A fresh database. */
  readonly url: string;
}

const measureRun = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  { round, processes, postgres, url }: Run,
  { connectionsOfEach, warmUpRequests, durationS }: ProcessesPlan,
): Promise<ProcessesSample> => {
  const started: RunningPresage[] = [];
  for (let number = 0; number < processes; number += 1) {
    const directory = join(workDirectory, `processes-${round}-${processes}-${number}`);
    started.push(await startPresage(group, upstreamOrigin, directory, url));
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
  const waits = await watchWaits(url);
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
    requestsPerSecond: loads.reduce((sum, wrk) => sum + (wrk.requests / wrk.durationUs) * 1e6, 0),
    cpuUsPerRequest: ((after.presage - before.presage) * 1000) / requests,
    postgresCpuUsPerRequest: ((after.postgres - before.postgres) * 1000) / requests,
    p50Us: Math.max(...loads.map(({ p50Us }) => p50Us)),
    p99Us: Math.max(...loads.map(({ p99Us }) => p99Us)),
    ...shares,
    problem: failures.length === 0 ? undefined : failures.join(", "),
  };
};
