import { findDashboardProblems } from "../dashboard/run-dashboard.ts";
import { findEvaluationProblems } from "../evaluations/run-evaluations.ts";
import { predictBody } from "../payload.ts";
import { findReplicasProblems } from "../replicas/run-replicas.ts";
import type { BenchResult } from "../run-bench.ts";
import { judgeGoals } from "./judge-goals.ts";
import { goalTable } from "./markdown.ts";
import { writeCache } from "./write-cache.ts";
import { writeDashboard } from "./write-dashboard.ts";
import { writeEpisodes } from "./write-episodes.ts";
import { writeRetention } from "./write-retention.ts";
import { writeEvaluations } from "./write-evaluations.ts";
import { writeProcesses } from "./write-processes.ts";
import { writeReplicas } from "./write-replicas.ts";
import { writeRuns } from "./write-runs.ts";
import { writeStatistics } from "./write-statistics.ts";
import {
  writeInFlightTable,
  writeLoadTable,
  writeMemoryTable,
  writeRatioTable,
  writeStartTable,
} from "./write-tables.ts";
import { writeWorkers } from "./write-workers.ts";

export const writeGoalTable = (result: BenchResult): string => goalTable(judgeGoals(result));

const writeMachine = ({ machine }: BenchResult): string => {
  const versions = Object.entries(machine.versions).map(
    ([name, version]) => `${name} ${version ?? "unknown"}`,
  );
  return [
    `- ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.kernel}`,
    `- ${versions.join(", ")}`,
    `- load average before the run: ${machine.loadBefore.toFixed(2)}`,
  ].join("\n");
};

const writeProblems = ({
  samples,
  evaluations,
  processes,
  workers,
  dashboard,
  replicas,
  cache,
  runs,
}: BenchResult): string => {
  const problems = [
    ...samples.flatMap(({ target, scenario, round, problem }) => {
      const where = `${scenario.connections} connections, ${scenario.delayMs} ms, round ${round + 1}`;
      return problem === undefined ? [] : [`${target} at ${where}: ${problem}`];
    }),
    ...(evaluations === undefined ? [] : findEvaluationProblems(evaluations)),
    ...(processes?.samples ?? []).flatMap(({ round, processes: count, problem }) =>
      problem === undefined ? [] : [`${count} processes, round ${round + 1}: ${problem}`],
    ),
    ...(replicas === undefined ? [] : findReplicasProblems(replicas)),
    ...(workers?.samples ?? []).flatMap(({ round, workers: count, problem }) =>
      problem === undefined ? [] : [`${count} workers, round ${round + 1}: ${problem}`],
    ),
    ...(dashboard === undefined ? [] : findDashboardProblems(dashboard)),
    ...(cache ?? []).flatMap(({ kind, round, problem }) =>
      problem === undefined ? [] : [`cache, ${kind}, round ${round + 1}: ${problem}`],
    ),
    ...(runs?.live ?? []).flatMap(({ round, problem }) =>
      problem === undefined ? [] : [`predictions beside a run, round ${round + 1}: ${problem}`],
    ),
  ];
  if (problems.length === 0) return "No request failed, and the upstream received each of them.";
  return problems.map((problem) => `- **failed and left out**: ${problem}`).join("\n");
};

const writeConditions = ({ plan }: BenchResult): string => `
- One run, one machine; upstream, target and load generator share its cores. Everything is on loopback.
- Presage: key check, rate limit (too high to be reached), metrics and a log line for each request, SQLite. nginx: one
  worker, HTTP/1.1 with kept-alive connections on both sides, access log on. Portkey: headless, in production mode.
- The bare Bun proxy only parses and serialises requests and responses, with \`Bun.serve\` and \`fetch\`:
  it shows the cost of the runtime.
- The request is one prediction of ${(predictBody.length / 1000).toFixed(1)} KB: \`/v1/predict\` for Presage, the same prompt already composed to
  \`/v1/chat/completions\` for the others. Before the load, one request to each target proves that the same prompt
  reaches the upstream.
- The upstream responds with a constant completion after the delay. It counts requests: a figure is invalid if there were fewer
  than the client got responses, or more than the client sent.
- Load by wrk with one thread, ${plan.rounds} rounds; targets take turns, in a different order in each round. Every
  figure is the median of the rounds, with the range in parentheses; ratios and differences are taken within a round.
- wrk corrects its percentiles for waiting time hidden by stalled connections ("coordinated omission").
- Processor time is user + system time of the process and its children, as counted by the kernel, divided by the number of
  requests that reached the upstream; – if less than 0.2 s was used.
- Memory is in MB (10⁶ bytes), RSS of the process and its children; peaks are the kernel's high-water marks.`;

export const writeReport = (result: BenchResult): string => `# Benchmark

Written by \`npm run bench\`; do not edit. ${new Date().toISOString().slice(0, 10)}.

## Goals
${writeGoalTable(result)}

${writeProblems(result)}

## Machine and versions
${writeMachine(result)}

## Conditions${writeConditions(result)}

## No delay at the upstream
${writeLoadTable(result, 0)}

## 50 ms at the upstream
${writeLoadTable(result, 50)}

## Presage compared with the others
${writeRatioTable(result)}

## Memory, MB
${writeMemoryTable(result)}

## ${result.plan.inFlight.rollouts.toLocaleString("en-US")} predictions in flight, the upstream takes 1 s
This many rollouts start at the same moment, each on its own socket, and send ${result.plan.inFlight.steps} steps one after the other,
to a new process. The first step includes connecting.

${writeInFlightTable(result)}

## From start to ready
Median of ${result.plan.startRuns} runs, from the spawn until \`GET /ready\` answers 200 (for the others, until the first response).

${writeStartTable(result)}
${writeEvaluations(result)}${writeProcesses(result)}${writeWorkers(result)}${writeReplicas(result)}${writeDashboard(result)}${writeCache(result)}${writeRuns(result)}${writeEpisodes(result)}${writeRetention(result)}${writeStatistics(result.statistics, result.plan.statistics)}`;
