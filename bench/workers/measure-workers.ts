import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../evaluations/search/start-postgres.ts";
import { workDirectory } from "../paths.ts";
import type { ProcessGroup } from "../processes.ts";
import { type StartedTarget, startTarget } from "../targets/start-target.ts";
import type { Upstream } from "../targets/start-upstream.ts";
import { measureServers, type ServersSample } from "./measure-servers.ts";

export interface WorkersPlan {
  readonly rounds: number;
  readonly connections: number;
  /** Before the first round, for each process, so that its JIT has compiled the hot paths. */
  readonly firstWarmUpS: number;
  readonly warmUpS: number;
  readonly durationS: number;
}

export const fullWorkersPlan: WorkersPlan = {
  rounds: 5,
  connections: 64,
  firstWarmUpS: 6,
  warmUpS: 1,
  durationS: 6,
};

export const quickWorkersPlan: WorkersPlan = { ...fullWorkersPlan, rounds: 1, firstWarmUpS: 2, durationS: 2 };

/** What handles the predictions. The first is what the others are compared with. */
export const arrangements = [
  { name: "PRESAGE_WORKERS=1", workers: 1, servers: 1 },
  { name: "PRESAGE_WORKERS=2", workers: 2, servers: 1 },
  { name: "two servers of one process, on two ports", workers: 1, servers: 2 },
] as const;
export type Arrangement = (typeof arrangements)[number];

export interface WorkersSample extends ServersSample {
  readonly arrangement: Arrangement["name"];
  readonly round: number;
}

export interface WorkersResult {
  readonly samples: readonly WorkersSample[];
  /** Why nothing was measured. */
  readonly notMeasured: string | undefined;
}

const readyTimeoutMs = 60_000;
const pollEveryMs = 50;

/** Predictions by each arrangement, each on its own database, in turns. */
export const measureWorkers = async (
  group: ProcessGroup,
  upstream: Upstream,
  { rounds, connections, firstWarmUpS, warmUpS, durationS }: WorkersPlan,
): Promise<WorkersResult> => {
  const postgres = await startPostgres(group, arrangements.length);
  if (postgres === undefined) return { samples: [], notMeasured: "PostgreSQL does not run on this machine" };
  const started: { name: Arrangement["name"]; servers: StartedTarget[] }[] = [];
  for (const [index, arrangement] of arrangements.entries()) {
    const servers: StartedTarget[] = [];
    for (let place = 0; place < arrangement.servers; place += 1) {
      const directory = join(workDirectory, `workers-${index}-${place}`);
      const environment = {
        PRESAGE_DATABASE_URL: postgres.urls[index] ?? "",
        PRESAGE_WORKERS: String(arrangement.workers),
      };
      servers.push(await startTarget(group, "presage", upstream.origin, directory, environment));
      if (arrangement.workers > 1) await untilReady(directory, arrangement.workers);
    }
    started.push({ name: arrangement.name, servers });
    const processes = arrangement.workers * arrangement.servers;
    await measureServers(group, upstream, servers, {
      connections,
      warmUpS: processes * firstWarmUpS,
      durationS: 1,
    });
  }

  const samples: WorkersSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // In a different order in each round, so that a temporary slowdown of the machine hits different ones.
    for (const { name, servers } of round % 2 === 0 ? started : started.toReversed()) {
      const sample = await measureServers(group, upstream, servers, { connections, warmUpS, durationS });
      samples.push({ ...sample, round, arrangement: name });
      const problem = sample.problem === undefined ? "" : `  FAILED: ${sample.problem}`;
      process.stdout.write(
        `workers    round ${round + 1}, ${name}: ${sample.requestsPerSecond.toFixed(0)}/s, ${sample.cpuUsPerRequest?.toFixed(0)} µs a prediction, ${(100 * sample.busiestPart).toFixed(0)} % by the busiest process${problem}\n`,
      );
    }
  }
  for (const { servers } of started) for (const { process } of servers) await group.stop(process);
  await group.stop(postgres.process);
  return { samples, notMeasured: undefined };
};

/** Once the first worker listens, the server is ready. The others would get none of the connections of a load that began then, nor their warm-up. */
const untilReady = async (directory: string, workers: number): Promise<void> => {
  const logFile = join(directory, "output.log");
  const startedAtMs = performance.now();
  while ((readFileSync(logFile, "utf8").match(/"the worker is ready"/g)?.length ?? 0) < workers) {
    if (performance.now() - startedAtMs > readyTimeoutMs)
      throw new Error(`not all of ${workers} workers are ready`);
    await Bun.sleep(pollEveryMs);
  }
};
