import { SQL } from "bun";
import {
  compareRounds,
  type Figure,
  figureOf,
  findProblems,
  type Goal,
  judge,
  none,
  type Read,
  showFigure,
  showPercent,
  showProblem,
  showTimes,
  tableOf,
  withoutProblems,
} from "../lib/figures.ts";
import { errorsOf, joinProblems, perSecond, runWrk, watch } from "../lib/load.ts";
import type { Part } from "../lib/part.ts";
import { type Postgres, startPostgres, withoutPostgres } from "../lib/postgres.ts";
import type { ProcessGroup } from "../lib/processes.ts";
import { type RunningPresage, startPresage } from "../lib/targets.ts";
import { readCpuMs } from "../lib/usage.ts";
import { evaluateRequest } from "./workload.ts";

const fullPlan = {
  rounds: 3,
  /** Numbers of processes that share the database. The others are compared with the first. */
  counts: [1, 2, 4],
  connectionsOfEach: 32,
  /** Requests to each process before measuring, so that its JIT has compiled the hot paths. */
  warmUpRequests: 8_000,
  durationS: 8,
};
type ProcessesPlan = typeof fullPlan;
const quickPlan: ProcessesPlan = { ...fullPlan, rounds: 1, warmUpRequests: 1_000, durationS: 3 };

export const processesPart: Part = {
  title: "Evaluations: several processes on one PostgreSQL",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickPlan : fullPlan;
    const samples = await measureProcesses(group, (await upstream()).origin, plan);
    return {
      goals: judgeProcesses(samples ?? [], plan),
      problems: findProblems(
        samples ?? [],
        ({ processes, round }) => `${processes} processes, round ${round + 1}`,
      ),
      text: samples === undefined ? `\nNot measured: ${withoutPostgres}.\n` : writeProcesses(samples, plan),
    };
  },
};

const warmUpSliceS = 2;
const longestWarmUpMs = 90_000;

interface WaitShares {
  /** The share of samples in which an active session of Presage was waiting for another transaction. */
  readonly lockShare: number;
  /** The share in which it was waiting for another session inside PostgreSQL (LWLock). */
  readonly latchShare: number;
}

interface Arrangement {
  readonly processes: number;
  /** 1 if the processes share a database; for comparison, one per process, so that they share only the machine. */
  readonly databases: number;
}

interface ProcessesSample extends WaitShares, Arrangement {
  readonly round: number;
  readonly requestsPerSecond: number;
  /** For all of Presage's processes together. */
  readonly cpuUsPerRequest: number;
  readonly postgresCpuUsPerRequest: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly problem: string | undefined;
}

const arrangementsOf = ({ counts }: ProcessesPlan): Arrangement[] => {
  const most = Math.max(...counts);
  return [...counts.map((processes) => ({ processes, databases: 1 })), { processes: most, databases: most }];
};

/** Undefined if PostgreSQL does not run here. */
const measureProcesses = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  plan: ProcessesPlan,
): Promise<ProcessesSample[] | undefined> => {
  const runs = Array.from({ length: plan.rounds }, (_, round) => {
    const all = arrangementsOf(plan).map((arrangement) => ({ round, ...arrangement }));
    // In a different order in each round, so that a temporary slowdown of the machine hits different ones.
    return round % 2 === 0 ? all : all.toReversed();
  }).flat();
  const postgres = await startPostgres(
    group,
    runs.reduce((sum, { databases }) => sum + databases, 0),
  );
  if (postgres === undefined) return undefined;
  const samples: ProcessesSample[] = [];
  const fresh = [...postgres.urls];
  for (const run of runs) {
    const urls = fresh.splice(0, run.databases);
    const sample = await measureRun(group, upstreamOrigin, { ...run, postgres, urls }, plan);
    samples.push(sample);
    process.stdout.write(
      `processes  round ${run.round + 1}, ${run.processes} on ${run.databases}: ${sample.requestsPerSecond.toFixed(0)}/s, ` +
        `${sample.cpuUsPerRequest.toFixed(0)} µs (PostgreSQL ${sample.postgresCpuUsPerRequest.toFixed(0)} µs) a request, ` +
        `waiting for locks ${showPercent(sample.lockShare)}, for latches ${showPercent(sample.latchShare)}${showProblem(sample.problem)}\n`,
    );
  }
  await group.stop(postgres.process);
  return samples;
};

interface Run extends Arrangement {
  readonly round: number;
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
    const name = `processes-${round}-${processes}-${databases}-${number}`;
    started.push(await startPresage(group, upstreamOrigin, name, urls[number % databases] ?? ""));
  }
  const load = (seconds: number) =>
    Promise.all(
      started.map((one) => runWrk(group, evaluateRequest(one), connectionsOfEach, seconds, "evaluate.lua")),
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
  return {
    round,
    processes,
    databases,
    requestsPerSecond: loads.reduce((sum, wrk) => sum + perSecond(wrk), 0),
    cpuUsPerRequest: ((after.presage - before.presage) * 1000) / requests,
    postgresCpuUsPerRequest: ((after.postgres - before.postgres) * 1000) / requests,
    p50Us: Math.max(...loads.map(({ p50Us }) => p50Us)),
    p99Us: Math.max(...loads.map(({ p99Us }) => p99Us)),
    ...shares,
    problem: joinProblems(errorsOf(...loads)),
  };
};

/** Repeatedly samples what Presage's sessions in a database are waiting for. */
const watchWaits = async (url: string): Promise<{ stop(): Promise<WaitShares> }> => {
  const database = new SQL(url, { max: 1 });
  await database.connect();
  const seen: (string | null)[] = [];
  const watching = watch(10, async () => {
    const sessions: { wait_event_type: string | null }[] = await database`
      select wait_event_type from pg_stat_activity
      where application_name = 'presage' and datname = current_database() and state = 'active'`;
    seen.push(...sessions.map(({ wait_event_type }) => wait_event_type));
  });
  const shareOf = (wanted: string) =>
    seen.length === 0 ? 0 : seen.filter((type) => type === wanted).length / seen.length;
  return {
    async stop() {
      await watching.stop();
      await database.close();
      return { lockShare: shareOf("Lock"), latchShare: shareOf("LWLock") };
    },
  };
};

/** The rounds of an arrangement. Failed rounds do not count. */
const samplesOf = (samples: readonly ProcessesSample[], wanted: Arrangement): ProcessesSample[] =>
  withoutProblems(samples).filter(
    ({ processes, databases }) => processes === wanted.processes && databases === wanted.databases,
  );

/** Presage's processor time per request as a ratio to that with fewer processes, within each round. */
const cpuRatio = (
  samples: readonly ProcessesSample[],
  arrangement: Arrangement,
  fewest: number,
): Figure | undefined =>
  compareRounds(
    samplesOf(samples, arrangement),
    samplesOf(samples, { processes: fewest, databases: 1 }),
    ({ cpuUsPerRequest }) => cpuUsPerRequest,
  );

const mostCpuRatio = 1.2;
const mostLockShare = 0.05;

const judgeProcesses = (samples: readonly ProcessesSample[], { counts }: ProcessesPlan): Goal[] => {
  const [fewest = 1, most = 1] = [counts[0], counts.at(-1)];
  const ofMost = { processes: most, databases: 1 };
  return [
    judge(
      `Stored evaluations with ${most} processes on one PostgreSQL use at most ${mostCpuRatio} times the processor time a request of ${fewest}`,
      cpuRatio(samples, ofMost, fewest)?.median,
      (ratio) => ratio <= mostCpuRatio,
      showTimes,
    ),
    judge(
      `With ${most} processes, active sessions are waiting for locks in less than ${100 * mostLockShare} % of the samples`,
      figureOf(samplesOf(samples, ofMost), ({ lockShare }) => lockShare)?.median,
      (share) => share < mostLockShare,
      showPercent,
    ),
  ];
};

const writeProcesses = (samples: readonly ProcessesSample[], plan: ProcessesPlan): string => {
  const [fewest = 1] = plan.counts;
  const show = (read: Read<ProcessesSample>, scale?: number) => (arrangement: Arrangement) =>
    showFigure(figureOf(samplesOf(samples, arrangement), read), scale);
  return `
\`POST /v1/evaluate\` as in «Evaluations», to each process over ${plan.connectionsOfEach} connections; ${plan.rounds} rounds, each with a new database. PostgreSQL
has its default settings except \`fsync = off\`, and shares the machine with Presage and wrk. Every 10 ms, each active session of Presage is
sampled: is it waiting for another transaction's lock, or for a latch inside PostgreSQL (LWLock)? The last row
is for comparison: processes that share only the machine, which also costs them processor time.

${tableOf(arrangementsOf(plan), [
  [
    "processes",
    ({ processes, databases }) =>
      databases === 1 ? String(processes) : `${processes}, each with its own database`,
  ],
  ["results/s", show(({ requestsPerSecond }) => requestsPerSecond)],
  ["p50, ms", show(({ p50Us }) => p50Us, 1 / 1000)],
  ["p99, ms", show(({ p99Us }) => p99Us, 1 / 1000)],
  ["processor time a request, µs", show(({ cpuUsPerRequest }) => cpuUsPerRequest)],
  [
    `ratio to ${fewest}`,
    (arrangement) =>
      arrangement.processes === fewest ? none : showFigure(cpuRatio(samples, arrangement, fewest)),
  ],
  ["PostgreSQL's, µs", show(({ postgresCpuUsPerRequest }) => postgresCpuUsPerRequest)],
  ["waiting for locks, %", show(({ lockShare }) => lockShare, 100)],
  ["for latches, %", show(({ latchShare }) => latchShare, 100)],
])}
`;
};
