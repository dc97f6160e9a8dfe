import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { showProblem } from "../lib/figures.ts";
import { errorsOf, perSecond, runWrk, type WrkResult } from "../lib/load.ts";
import { type ProcessGroup, programFile } from "../lib/processes.ts";
import { sqliteFile, startPresage } from "../lib/targets.ts";
import { type EvaluationsPlan, evaluateRequest } from "./workload.ts";

export interface ThroughputSample {
  readonly round: number;
  readonly connections: number;
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Results a second of the bare loop, which inserts the same results, 500 in a transaction. */
  readonly barePerSecond: number;
  /** How many results shared a transaction of Presage, on average. */
  readonly resultsPerCommit: number;
  /** Results a second of the bare loop with that many in a transaction. */
  readonly barePerSecondAlike: number;
  readonly problem: string | undefined;
}

const bareResultsPerCommit = 500;

/** Each measurement uses a new database. The bare loop then inserts the results that Presage stored in it. */
export const measureThroughput = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  plan: EvaluationsPlan["throughput"],
): Promise<ThroughputSample[]> => {
  const samples: ThroughputSample[] = [];
  for (let round = 0; round < plan.rounds; round += 1)
    for (const connections of plan.connections)
      samples.push(await measureOnce(group, upstreamOrigin, plan, round, connections));
  return samples;
};

const measureOnce = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  { warmUpS, durationS }: EvaluationsPlan["throughput"],
  round: number,
  connections: number,
): Promise<ThroughputSample> => {
  const presage = await startPresage(group, upstreamOrigin, `evaluate-${round}-${connections}`);
  const path = sqliteFile(presage.directory);
  const load = (seconds: number) =>
    runWrk(group, evaluateRequest(presage), connections, seconds, "evaluate.lua");
  const warmUp = await load(warmUpS);
  const wrk = await load(durationS);
  await group.stop(presage.process);
  const { stored, resultsPerCommit } = countStored(path);
  const sample = {
    round,
    connections,
    requestsPerSecond: perSecond(wrk),
    p50Us: wrk.p50Us,
    p99Us: wrk.p99Us,
    barePerSecond: await runBareInserts(group, path, bareResultsPerCommit),
    resultsPerCommit,
    barePerSecondAlike: await runBareInserts(group, path, Math.max(1, Math.round(resultsPerCommit))),
    problem: findProblem([warmUp, wrk], stored, connections),
  };
  rmSync(presage.directory, { recursive: true, force: true });
  const rates = `${sample.requestsPerSecond.toFixed(0)}/s, bare loop ${sample.barePerSecond.toFixed(0)}/s, ${sample.barePerSecondAlike.toFixed(0)}/s with ${resultsPerCommit.toFixed(0)} in a commit`;
  process.stdout.write(
    `evaluate  round ${round + 1}, ${connections} connections: ${rates}, ${stored} stored${showProblem(sample.problem)}\n`,
  );
  return sample;
};

/** Results of one transaction have the same time. Rarely, two transactions share one. */
const countStored = (path: string): { stored: number; resultsPerCommit: number } => {
  const database = new Database(path, { readonly: true });
  try {
    const counted = database
      .query<{ stored: number; commits: number }, []>(
        "select count(*) as stored, count(distinct created_at) as commits from evaluation_results",
      )
      .get();
    const { stored, commits } = counted ?? { stored: 0, commits: 0 };
    return { stored, resultsPerCommit: commits === 0 ? 1 : stored / commits };
  } finally {
    database.close();
  }
};

const runBareInserts = async (
  group: ProcessGroup,
  source: string,
  resultsPerCommit: number,
): Promise<number> => {
  const destination = join(dirname(source), `bare-${resultsPerCommit}.db`);
  const script = programFile("bare-inserts.ts");
  const argv = [process.execPath, script, source, destination, String(resultsPerCommit)];
  const { results, durationMs } = JSON.parse(await group.outputOf("the bare loop", { argv }));
  return (results / durationMs) * 1000;
};

/** A problem of two runs of wrk on one database. Each run exits without waiting for its last responses. */
const findProblem = (
  runs: readonly [WrkResult, WrkResult],
  stored: number,
  connections: number,
): string | undefined => {
  const errors = errorsOf(...runs);
  if (errors.length > 0) return errors.join(", ");
  const responses = runs.reduce((sum, { requests }) => sum + requests, 0);
  if (stored < responses) return `${responses} responses, but only ${stored} results stored`;
  return stored > responses + runs.length * connections
    ? `${responses} responses, but ${stored} results stored`
    : undefined;
};
