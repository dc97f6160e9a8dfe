import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  compareRounds,
  figureOf,
  findProblems,
  type Goal,
  judge,
  none,
  type Read,
  showFigure,
  showProblem,
  showTimes,
  tableOf,
  withoutProblems,
} from "../lib/figures.ts";
import { type LoadSample, measurePredictions, runWrk } from "../lib/load.ts";
import type { Part } from "../lib/part.ts";
import { startPostgres, withoutPostgres } from "../lib/postgres.ts";
import { type ProcessGroup, untilTrue } from "../lib/processes.ts";
import { type RunningPresage, startPresage } from "../lib/targets.ts";
import type { Upstream } from "../lib/upstream.ts";

const fullPlan = {
  rounds: 5,
  connections: 64,
  /** Before the first round, for each process, so that its JIT has compiled the hot paths. */
  firstWarmUpS: 6,
  warmUpS: 1,
  durationS: 6,
};
type WorkersPlan = typeof fullPlan;
const quickPlan: WorkersPlan = { ...fullPlan, rounds: 1, firstWarmUpS: 2, durationS: 2 };

export const workersPart: Part = {
  title: "Predictions: several workers on one port",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickPlan : fullPlan;
    const samples = await measureWorkers(group, await upstream(), plan);
    return {
      goals: [judgeWorkers(samples ?? [])],
      problems: findProblems(samples ?? [], ({ arrangement, round }) => `${arrangement}, round ${round + 1}`),
      text: samples === undefined ? `\nNot measured: ${withoutPostgres}.\n` : writeWorkers(samples, plan),
    };
  },
};

/** The servers that handle the predictions. The others are compared with the first. */
const arrangements = [
  { name: "PRESAGE_WORKERS=1", workers: 1, servers: 1 },
  { name: "PRESAGE_WORKERS=2", workers: 2, servers: 1 },
  { name: "two servers of one process, on two ports", workers: 1, servers: 2 },
] as const;
type Arrangement = (typeof arrangements)[number]["name"];

interface WorkersSample extends LoadSample {
  readonly arrangement: Arrangement;
  readonly round: number;
}

/** Predictions by each arrangement, each on its own database, in turns. Undefined if PostgreSQL does not run here. */
const measureWorkers = async (
  group: ProcessGroup,
  upstream: Upstream,
  { rounds, connections, firstWarmUpS, warmUpS, durationS }: WorkersPlan,
): Promise<WorkersSample[] | undefined> => {
  const postgres = await startPostgres(group, arrangements.length);
  if (postgres === undefined) return undefined;
  const measure = (servers: readonly RunningPresage[], warmUp: number, duration: number) =>
    measureServers(group, upstream, servers, { connections, warmUpS: warmUp, durationS: duration });
  const started: { name: Arrangement; servers: RunningPresage[] }[] = [];
  for (const [index, { name, workers, servers: count }] of arrangements.entries()) {
    const servers: RunningPresage[] = [];
    for (let place = 0; place < count; place += 1) {
      const more = { PRESAGE_WORKERS: String(workers) };
      const url = postgres.urls[index];
      servers.push(await startPresage(group, upstream.origin, `workers-${index}-${place}`, url, more));
      if (workers > 1) await untilReady(servers.at(-1)?.directory ?? "", workers);
    }
    started.push({ name, servers });
    await measure(servers, workers * count * firstWarmUpS, 1);
  }

  const samples: WorkersSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // In a different order in each round, so that a temporary slowdown of the machine hits different ones.
    for (const { name, servers } of round % 2 === 0 ? started : started.toReversed()) {
      const sample = await measure(servers, warmUpS, durationS);
      samples.push({ ...sample, round, arrangement: name });
      process.stdout.write(
        `workers    round ${round + 1}, ${name}: ${sample.requestsPerSecond.toFixed(0)}/s, ${sample.cpuUsPerRequest?.toFixed(0)} µs a prediction, ${(100 * sample.busiestPart).toFixed(0)} % by the busiest process${showProblem(sample.problem)}\n`,
      );
    }
  }
  for (const { servers } of started) for (const { process } of servers) await group.stop(process);
  await group.stop(postgres.process);
  return samples;
};

/** Predictions by one or two servers, from two threads of wrk with half of the connections each, whichever servers these reach. */
const measureServers = async (
  group: ProcessGroup,
  upstream: Upstream,
  servers: readonly RunningPresage[],
  load: { readonly connections: number; readonly warmUpS: number; readonly durationS: number },
): Promise<LoadSample> => {
  const [first] = servers;
  if (first === undefined) throw new Error("there is no server to measure");
  const ports = [first, servers.at(-1) ?? first].map(({ origin }) => Number(new URL(origin).port));
  const run = (durationS: number) =>
    runWrk(group, first.predict, load.connections, durationS, "predict.lua", ports);
  const pids = servers.map(({ process }) => process.pid);
  return await measurePredictions(upstream, { ...load, run, pids, delayMs: 0 });
};

/** The server is ready once the first worker listens. A load that began then would give the others neither connections nor a warm-up. */
const untilReady = (directory: string, workers: number): Promise<void> =>
  untilTrue(`not all of ${workers} workers are ready`, { everyMs: 50, timeoutMs: 60_000 }, () => {
    const log = readFileSync(join(directory, "output.log"), "utf8");
    return (log.match(/"the worker is ready"/g)?.length ?? 0) >= workers;
  });

const mostCpuRatio = 1.1;
const [single, workers, apart] = arrangements;

const samplesOf = (samples: readonly WorkersSample[], name: Arrangement): WorkersSample[] =>
  withoutProblems(samples).filter(({ arrangement }) => arrangement === name);

/** A figure as a ratio to another arrangement's, within each round. */
const ratioTo = (
  samples: readonly WorkersSample[],
  name: Arrangement,
  other: Arrangement,
  read: Read<WorkersSample>,
) => compareRounds(samplesOf(samples, name), samplesOf(samples, other), read);

const readCpu: Read<WorkersSample> = ({ cpuUsPerRequest }) => cpuUsPerRequest;
const readRate: Read<WorkersSample> = ({ requestsPerSecond }) => requestsPerSecond;

const judgeWorkers = (samples: readonly WorkersSample[]): Goal =>
  judge(
    `Predictions with ${workers.name} use at most ${mostCpuRatio} times the processor time a prediction of ${single.name}`,
    ratioTo(samples, workers.name, single.name, readCpu)?.median,
    (ratio) => ratio <= mostCpuRatio,
    showTimes,
  );

const writeWorkers = (samples: readonly WorkersSample[], { connections, rounds }: WorkersPlan): string => {
  const show = (read: Read<WorkersSample>, scale?: number) => (name: Arrangement) =>
    showFigure(figureOf(samplesOf(samples, name), read), scale);
  const ratio = (read: Read<WorkersSample>) => (name: Arrangement) =>
    name === single.name ? none : showFigure(ratioTo(samples, name, single.name, read));
  return `
\`POST /v1/predict\` over ${connections} connections, half of them by each of two threads of wrk, no delay at the upstream, PostgreSQL; ${rounds} rounds in turns.
Upstream, wrk and PostgreSQL share the machine's cores, so more processes are faster only where there are more cores.

${tableOf(
  arrangements.map(({ name }) => name),
  [
    ["", (name) => name],
    ["predictions/s", show(readRate)],
    ["to 1", ratio(readRate)],
    ["processor time a prediction, µs", show(readCpu)],
    ["to 1", ratio(readCpu)],
    ["by the busiest process, %", show(({ busiestPart }) => busiestPart, 100)],
    ["p50, ms", show(({ p50Us }) => p50Us, 1 / 1000)],
    ["p99, ms", show(({ p99Us }) => p99Us, 1 / 1000)],
  ],
)}

- ${single.name}: one process.
- ${workers.name}: a supervisor and two workers on one port. The processor time is that of all three; the system spreads the connections by chance, so the busiest worker may have more than half.
- ${apart.name}: the control. They share one database of PostgreSQL, the upstream and the machine, and nothing of Presage; each has half of the connections. What they cost more than one process is
  not Presage's, but the machine's and PostgreSQL's. ${workers.name} took ${showFigure(ratioTo(samples, workers.name, apart.name, readCpu))} times their processor time a prediction.
`;
};
