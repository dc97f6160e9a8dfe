import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findProblems, type Goal, none, showFigure, table } from "../lib/figures.ts";
import { runWrk } from "../lib/load.ts";
import type { Part } from "../lib/part.ts";
import { startPostgres } from "../lib/postgres.ts";
import { type ProcessGroup, workDirectory } from "../lib/processes.ts";
import { type StartedTarget, startTarget } from "../lib/targets.ts";
import type { Upstream } from "../lib/upstream.ts";
import { readCpuMsOfEach } from "../lib/usage.ts";
import { findLoadProblem, leastCpuMs, type Sample, waitUntilQuiet } from "./predictions.ts";
import { type Figure, summarise } from "./predictions-report.ts";

export interface ServersSample
  extends Pick<Sample, "requestsPerSecond" | "cpuUsPerRequest" | "p50Us" | "p99Us" | "problem"> {
  /** The processor time of the process that used most, as a part of all. */
  readonly busiestPart: number;
}

/** Predictions by one or two servers, by two threads of wrk that have half of the connections each, whichever servers these go to. */
const measureServers = async (
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

export interface WorkersPlan {
  readonly rounds: number;
  readonly connections: number;
  /** Before the first round, for each process, so that its JIT has compiled the hot paths. */
  readonly firstWarmUpS: number;
  readonly warmUpS: number;
  readonly durationS: number;
}

const fullWorkersPlan: WorkersPlan = {
  rounds: 5,
  connections: 64,
  firstWarmUpS: 6,
  warmUpS: 1,
  durationS: 6,
};

const quickWorkersPlan: WorkersPlan = { ...fullWorkersPlan, rounds: 1, firstWarmUpS: 2, durationS: 2 };

/** What handles the predictions. The first is what the others are compared with. */
const arrangements = [
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
const measureWorkers = async (
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

const mostCpuRatio = 1.1;

type Name = Arrangement["name"];
type Read = (sample: WorkersSample) => number | undefined;

const [single, workers, apart] = arrangements;

const countedOf = ({ samples }: WorkersResult, name: Name): WorkersSample[] =>
  samples.filter((sample) => sample.arrangement === name && sample.problem === undefined);

/** A figure as a ratio to another arrangement's, within each round. */
const ratioTo = (result: WorkersResult, name: Name, other: Name, read: Read): Figure | undefined => {
  const others = new Map(countedOf(result, other).map((sample) => [sample.round, read(sample)]));
  return summarise(
    countedOf(result, name).flatMap((sample) => {
      const [own, its] = [read(sample), others.get(sample.round)];
      return own === undefined || its === undefined ? [] : [own / its];
    }),
  );
};

const readCpu: Read = ({ cpuUsPerRequest }) => cpuUsPerRequest;

const judgeWorkers = (result: WorkersResult): Goal[] => {
  const ratio = ratioTo(result, workers.name, single.name, readCpu)?.median;
  return [
    {
      text: `Predictions with ${workers.name} use at most ${mostCpuRatio} times the processor time a prediction of ${single.name}`,
      measured: ratio === undefined ? "not measured" : `${ratio.toFixed(2)} times`,
      met: ratio === undefined ? undefined : ratio <= mostCpuRatio,
    },
  ];
};

const writeWorkers = (result: WorkersResult, { connections, rounds }: WorkersPlan): string => {
  if (result.notMeasured !== undefined) return `\nNot measured: ${result.notMeasured}.\n`;
  const rows = arrangements.map(({ name }) => {
    const show = (read: Read, scale?: number) =>
      showFigure(summarise(countedOf(result, name).flatMap((sample) => read(sample) ?? [])), scale);
    const ratio = (read: Read) =>
      name === single.name ? none : showFigure(ratioTo(result, name, single.name, read));
    return [
      name,
      show(({ requestsPerSecond }) => requestsPerSecond),
      ratio(({ requestsPerSecond }) => requestsPerSecond),
      show(readCpu),
      ratio(readCpu),
      show(({ busiestPart }) => busiestPart, 100),
      show(({ p50Us }) => p50Us, 1 / 1000),
      show(({ p99Us }) => p99Us, 1 / 1000),
    ];
  });
  return `
\`POST /v1/predict\` over ${connections} connections, half of them by each of two threads of wrk, no delay at the upstream, PostgreSQL; ${rounds} rounds in turns.
Upstream, wrk and PostgreSQL share the machine's cores, so more processes are faster only where there are more cores.

${table(["", "predictions/s", "to 1", "processor time a prediction, µs", "to 1", "by the busiest process, %", "p50, ms", "p99, ms"], rows)}

- ${single.name}: one process.
- ${workers.name}: a supervisor and two workers on one port. The processor time is that of all three; the system spreads the connections by chance, so the busiest worker may have more than half.
- ${apart.name}: the control. They share one database of PostgreSQL, the upstream and the machine, and nothing of Presage; each has half of the connections. What they cost more than one process is
  not Presage's, but the machine's and PostgreSQL's. ${workers.name} took ${showFigure(ratioTo(result, workers.name, apart.name, readCpu))} times their processor time a prediction.
`;
};

export const workersPart: Part = {
  title: "Predictions: several workers on one port",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickWorkersPlan : fullWorkersPlan;
    const result = await measureWorkers(group, await upstream(), plan);
    return {
      goals: judgeWorkers(result),
      problems: findProblems(
        result.samples,
        ({ arrangement, round }) => `${arrangement}, round ${round + 1}`,
      ),
      text: writeWorkers(result, plan),
    };
  },
};
