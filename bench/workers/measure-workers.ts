import { join } from "node:path";
import { startPostgres } from "../evaluations/search/start-postgres.ts";
import { workDirectory } from "../paths.ts";
import { measureLoad } from "../predictions/measure-load.ts";
import type { RunningTarget } from "../predictions/running-target.ts";
import type { Sample } from "../predictions/sample.ts";
import type { ProcessGroup } from "../processes.ts";
import { startTarget } from "../targets/start-target.ts";
import type { Upstream } from "../targets/start-upstream.ts";

export interface WorkersPlan {
  readonly rounds: number;
  /** Values of PRESAGE_WORKERS. The others are compared with the first. */
  readonly counts: readonly number[];
  readonly connections: number;
  /** Before the first round, for each worker, so that its JIT has compiled the hot paths. */
  readonly firstWarmUpS: number;
  readonly warmUpS: number;
  readonly durationS: number;
}

export const fullWorkersPlan: WorkersPlan = {
  rounds: 5,
  counts: [1, 2],
  connections: 64,
  firstWarmUpS: 6,
  warmUpS: 1,
  durationS: 6,
};

export const quickWorkersPlan: WorkersPlan = { ...fullWorkersPlan, rounds: 1, firstWarmUpS: 2, durationS: 2 };

export interface WorkersSample
  extends Pick<Sample, "round" | "requestsPerSecond" | "cpuUsPerRequest" | "p50Us" | "p99Us" | "problem"> {
  readonly workers: number;
}

export interface WorkersResult {
  readonly samples: readonly WorkersSample[];
  /** Why nothing was measured. */
  readonly notMeasured: string | undefined;
}

/** Predictions by servers with different numbers of workers, each on its own database, in turns. */
export const measureWorkers = async (
  group: ProcessGroup,
  upstream: Upstream,
  { rounds, counts, connections, firstWarmUpS, warmUpS, durationS }: WorkersPlan,
): Promise<WorkersResult> => {
  const postgres = await startPostgres(group, counts.length);
  if (postgres === undefined) return { samples: [], notMeasured: "PostgreSQL does not run on this machine" };
  const servers: { workers: number; target: RunningTarget }[] = [];
  const processes = [postgres.process];
  for (const [index, workers] of counts.entries()) {
    const { process, request } = await startTarget(
      group,
      "presage",
      upstream.origin,
      join(workDirectory, `workers-${workers}`),
      { PRESAGE_DATABASE_URL: postgres.urls[index] ?? "", PRESAGE_WORKERS: String(workers) },
    );
    processes.unshift(process);
    servers.push({ workers, target: { name: "presage", pid: process.pid, request } });
  }
  const scenario = { connections, delayMs: 0, durationS };
  for (const { workers, target } of servers)
    await measureLoad(group, upstream, target, scenario, workers * firstWarmUpS);

  const samples: WorkersSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // In a different order in each round, so that a temporary slowdown of the machine hits different ones.
    for (const { workers, target } of round % 2 === 0 ? servers : servers.toReversed()) {
      const sample = await measureLoad(group, upstream, target, scenario, warmUpS);
      samples.push({ ...sample, round, workers });
      const problem = sample.problem === undefined ? "" : `  FAILED: ${sample.problem}`;
      process.stdout.write(
        `workers    round ${round + 1}, ${workers}: ${sample.requestsPerSecond.toFixed(0)}/s, ${sample.cpuUsPerRequest?.toFixed(0)} µs a prediction${problem}\n`,
      );
    }
  }
  for (const started of processes) await group.stop(started);
  return { samples, notMeasured: undefined };
};
