import { join } from "node:path";
import { SQL } from "bun";
import { findProblems, type Goal, none, showFigure, table } from "../lib/figures.ts";
import { runWrk } from "../lib/load.ts";
import type { Part } from "../lib/part.ts";
import { type Postgres, startPostgres } from "../lib/postgres.ts";
import { type ProcessGroup, workDirectory } from "../lib/processes.ts";
import { type RunningPresage, startPresage } from "../lib/targets.ts";
import { readCpuMs } from "../lib/usage.ts";
import { type Figure, summarise } from "../predictions/predictions-report.ts";
import { evaluateBodies } from "./workload.ts";

export interface WaitShares {
  /** The share of samples in which an active session of Presage was waiting for another transaction. */
  readonly lockShare: number;
  /** The share in which it was waiting for another session inside PostgreSQL (LWLock). */
  readonly latchShare: number;
  readonly looks: number;
}

const everyMs = 10;

/** Repeatedly samples what Presage's sessions in a database are waiting for. */
const watchWaits = async (url: string): Promise<{ stop(): Promise<WaitShares> }> => {
  const database = new SQL(url, { max: 1 });
  await database.connect();
  const seen = { looks: 0, locks: 0, latches: 0 };
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const sessions: { wait_event_type: string | null }[] = await database`
        select wait_event_type from pg_stat_activity
        where application_name = 'presage' and datname = current_database() and state = 'active'`;
      for (const { wait_event_type } of sessions) {
        seen.looks += 1;
        if (wait_event_type === "Lock") seen.locks += 1;
        if (wait_event_type === "LWLock") seen.latches += 1;
      }
      await Bun.sleep(everyMs);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await watching;
      await database.close();
      const { looks, locks, latches } = seen;
      return {
        looks,
        lockShare: looks === 0 ? 0 : locks / looks,
        latchShare: looks === 0 ? 0 : latches / looks,
      };
    },
  };
};

export interface ProcessesPlan {
  readonly rounds: number;
  /** Numbers of processes that share the database. The others are compared with the first. */
  readonly counts: readonly number[];
  readonly connectionsOfEach: number;
  /** Requests to each process before measuring, so that its JIT has compiled the hot paths. */
  readonly warmUpRequests: number;
  readonly durationS: number;
}

const fullProcessesPlan: ProcessesPlan = {
  rounds: 3,
  counts: [1, 2, 4],
  connectionsOfEach: 32,
  warmUpRequests: 8_000,
  durationS: 8,
};

const quickProcessesPlan: ProcessesPlan = {
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

const measureProcesses = async (
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

const countedOf = ({ samples }: ProcessesResult, processes: number, databases: number): ProcessesSample[] =>
  samples.filter(
    (sample) =>
      sample.processes === processes && sample.databases === databases && sample.problem === undefined,
  );

/** The rounds with this number of processes. Failed rounds do not count. */
const figureOf = (
  result: ProcessesResult,
  processes: number,
  read: (sample: ProcessesSample) => number,
  databases = 1,
): Figure | undefined => summarise(countedOf(result, processes, databases).map(read));

/** Presage's processor time a request as a ratio to that with fewer processes, within each round. */
const cpuRatio = (
  result: ProcessesResult,
  processes: number,
  fewer: number,
  databases = 1,
): Figure | undefined => {
  const others = new Map(countedOf(result, fewer, 1).map((sample) => [sample.round, sample.cpuUsPerRequest]));
  return summarise(
    countedOf(result, processes, databases).flatMap(({ round, cpuUsPerRequest }) => {
      const other = others.get(round);
      return other === undefined ? [] : [cpuUsPerRequest / other];
    }),
  );
};

const mostCpuRatio = 1.2;
const mostLockShare = 0.05;

const judgeProcesses = (result: ProcessesResult, { counts }: ProcessesPlan): Goal[] => {
  const [fewest = 1, most = 1] = [counts[0], counts.at(-1)];
  const ratio = cpuRatio(result, most, fewest)?.median;
  const share = figureOf(result, most, ({ lockShare }) => lockShare)?.median;
  return [
    {
      text: `Stored evaluations with ${most} processes on one PostgreSQL use at most ${mostCpuRatio} times the processor time a request of ${fewest}`,
      measured: ratio === undefined ? "not measured" : `${ratio.toFixed(2)} times`,
      met: ratio === undefined ? undefined : ratio <= mostCpuRatio,
    },
    {
      text: `With ${most} processes, active sessions are waiting for locks in less than ${100 * mostLockShare} % of the samples`,
      measured: share === undefined ? "not measured" : `${(100 * share).toFixed(1)} %`,
      met: share === undefined ? undefined : share < mostLockShare,
    },
  ];
};

const writeProcesses = (
  result: ProcessesResult,
  { counts, connectionsOfEach, rounds }: ProcessesPlan,
): string => {
  const [fewest = 1] = counts;
  const most = Math.max(...counts);
  const rows = [...counts.map((count) => ({ count, databases: 1 })), { count: most, databases: most }];
  if (result.notMeasured !== undefined) return `\nNot measured: ${result.notMeasured}.\n`;
  return `
\`POST /v1/evaluate\` as in «Evaluations», to each process over ${connectionsOfEach} connections; ${rounds} rounds, each with a new database. PostgreSQL
has its default settings except \`fsync = off\`, and shares the machine with Presage and wrk. Every 10 ms, each active session of Presage is
sampled: is it waiting for another transaction's lock, or for a latch inside PostgreSQL (LWLock)? The last row
is for comparison: processes that share only the machine, which also costs them processor time.

${table(
  [
    "processes",
    "results/s",
    "p50, ms",
    "p99, ms",
    "processor time a request, µs",
    `ratio to ${fewest}`,
    "PostgreSQL's, µs",
    "waiting for locks, %",
    "for latches, %",
  ],
  rows.map(({ count, databases }) => {
    const show = (read: (sample: ProcessesSample) => number, scale?: number) =>
      showFigure(figureOf(result, count, read, databases), scale);
    return [
      databases === 1 ? String(count) : `${count}, each with its own database`,
      show(({ requestsPerSecond }) => requestsPerSecond),
      show(({ p50Us }) => p50Us, 1 / 1000),
      show(({ p99Us }) => p99Us, 1 / 1000),
      show(({ cpuUsPerRequest }) => cpuUsPerRequest),
      count === fewest ? none : showFigure(cpuRatio(result, count, fewest, databases)),
      show(({ postgresCpuUsPerRequest }) => postgresCpuUsPerRequest),
      show(({ lockShare }) => lockShare, 100),
      show(({ latchShare }) => latchShare, 100),
    ];
  }),
)}
`;
};

export const processesPart: Part = {
  title: "Evaluations: several processes on one PostgreSQL",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickProcessesPlan : fullProcessesPlan;
    const result = await measureProcesses(group, (await upstream()).origin, plan);
    return {
      goals: judgeProcesses(result, plan),
      problems: findProblems(
        result.samples,
        ({ processes, round }) => `${processes} processes, round ${round + 1}`,
      ),
      text: writeProcesses(result, plan),
    };
  },
};
