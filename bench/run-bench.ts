import { join } from "node:path";
import type { BenchArguments } from "./arguments.ts";
import { type CacheSample, measureCache } from "./cache/measure-cache.ts";
import { type DashboardResult, runDashboard } from "./dashboard/run-dashboard.ts";
import { type EpisodesSample, runEpisodes } from "./episodes/run-episodes.ts";
import { measureProcesses, type ProcessesResult } from "./evaluations/processes/measure-processes.ts";
import { type EvaluationsResult, runEvaluations } from "./evaluations/run-evaluations.ts";
import { describeMachine, type MachineDescription } from "./host/describe-machine.ts";
import { type Memory, readMemory } from "./host/process-account.ts";
import { type InFlightResult, measureInFlight } from "./measure/measure-in-flight.ts";
import { measureRounds } from "./measure/measure-rounds.ts";
import { measureStart, type StartTimes } from "./measure/measure-start.ts";
import type { RunningTarget } from "./measure/running-target.ts";
import type { Sample } from "./measure/sample.ts";
import { workDirectory } from "./paths.ts";
import type { Plan } from "./plan.ts";
import type { ProcessGroup } from "./processes.ts";
import { type ReplicasResult, runReplicas } from "./replicas/run-replicas.ts";
import { type RetentionSample, runRetention } from "./retention/run-retention.ts";
import { type RunsResult, runRuns } from "./runs/run-runs.ts";
import { runStatistics, type StatisticsResult } from "./statistics/run-statistics.ts";
import { chatRequest } from "./targets/chat-request.ts";
import { type StartedName, startTarget } from "./targets/start-target.ts";
import { startUpstream } from "./targets/start-upstream.ts";
import type { TargetName } from "./targets/target.ts";
import { verifyTarget } from "./targets/verify-target.ts";
import { measureWorkers, type WorkersResult } from "./workers/measure-workers.ts";

export type ByTarget<Value> = ReadonlyMap<StartedName, Value>;

export interface BenchResult {
  readonly machine: MachineDescription;
  readonly plan: Plan;
  readonly targets: readonly TargetName[];
  readonly samples: readonly Sample[];
  readonly starts: ByTarget<StartTimes>;
  readonly atRest: ByTarget<Memory>;
  readonly afterLoad: ByTarget<Memory>;
  readonly inFlight: ByTarget<InFlightResult>;
  /** Undefined if not part of this run. */
  readonly evaluations: EvaluationsResult | undefined;
  readonly processes: ProcessesResult | undefined;
  readonly workers: WorkersResult | undefined;
  readonly dashboard: DashboardResult | undefined;
  readonly replicas: ReplicasResult | undefined;
  readonly cache: readonly CacheSample[] | undefined;
  readonly runs: RunsResult | undefined;
  readonly episodes: readonly EpisodesSample[] | undefined;
  readonly retention: readonly RetentionSample[] | undefined;
  readonly statistics: StatisticsResult | undefined;
}

export const runBench = async (
  group: ProcessGroup,
  {
    targets: names,
    evaluations: withEvaluations,
    processes: withProcesses,
    workers: withWorkers,
    dashboard: withDashboard,
    replicas: withReplicas,
    cache: withCache,
    runs: withRuns,
    episodes: withEpisodes,
    retention: withRetention,
    results,
    statistics: withStatistics,
  }: Omit<BenchArguments, "quick">,
  plan: Plan,
): Promise<BenchResult> => {
  const machine = await describeMachine();
  const upstream = await startUpstream(group, join(workDirectory, "upstream"));
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
  const evaluations = withEvaluations ? await runEvaluations(group, upstream, plan.evaluations) : undefined;
  const processes = withProcesses
    ? await measureProcesses(group, upstream.origin, plan.processes)
    : undefined;
  const workers = withWorkers ? await measureWorkers(group, upstream, plan.workers) : undefined;
  const dashboard = withDashboard ? await runDashboard(group, upstream.origin, plan.dashboard) : undefined;
  const replicas = withReplicas ? await runReplicas(group, plan.replicas) : undefined;
  const cache = withCache ? await measureCache(group, upstream, plan.cache) : undefined;
  const runs = withRuns ? await runRuns(group, upstream, plan.runs) : undefined;
  const episodes = withEpisodes ? await runEpisodes(group, upstream, plan.episodes) : undefined;
  const retentionPlan = { ...plan.retention, ...(results === undefined ? {} : { results }) };
  const retention = withRetention ? await runRetention(group, upstream, retentionPlan) : undefined;
  const statistics = withStatistics ? await runStatistics(plan.statistics) : undefined;
  return {
    machine,
    plan: { ...plan, retention: retentionPlan },
    targets: names,
    samples,
    starts,
    atRest,
    afterLoad,
    inFlight,
    evaluations,
    processes,
    workers,
    dashboard,
    replicas,
    cache,
    runs,
    episodes,
    retention,
    statistics,
  };
};
