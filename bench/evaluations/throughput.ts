import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { runWrk, type WrkResult } from "../lib/load.ts";
import { type ProcessGroup, programFile, workDirectory } from "../lib/processes.ts";
import { startPresage } from "../lib/targets.ts";
import { type EvaluationsPlan, evaluateBodies } from "./workload.ts";

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
  /** Results a second of the bare loop with as many in a transaction. */
  readonly barePerSecondAlike: number;
  readonly problem: string | undefined;
}

const bareResultsPerCommit = 500;

const countStored = (path: string): number => {
  const database = new Database(path, { readonly: true });
  try {
    const counting = database.query<{ stored: number }, []>(
      "select count(*) as stored from evaluation_results",
    );
    return counting.get()?.stored ?? 0;
  } finally {
    database.close();
  }
};

/** Results of one transaction have one time. Rarely, two transactions have the same. */
const countPerCommit = (path: string): number => {
  const database = new Database(path, { readonly: true });
  try {
    const counted = database
      .query<{ perCommit: number }, []>(
        "select 1.0 * count(*) / count(distinct created_at) as perCommit from evaluation_results",
      )
      .get();
    return counted?.perCommit ?? 1;
  } finally {
    database.close();
  }
};

/** Of two runs of wrk on one database. Each exits without waiting for its last responses. */
const findProblem = (
  runs: readonly [WrkResult, WrkResult],
  stored: number,
  connections: number,
): string | undefined => {
  const failures = runs.flatMap(({ errors }) => Object.entries(errors)).filter(([, count]) => count > 0);
  if (failures.length > 0) return failures.map(([kind, count]) => `${count} ${kind} errors`).join(", ");
  const responses = runs.reduce((sum, { requests }) => sum + requests, 0);
  if (stored < responses) return `${responses} responses, but only ${stored} results stored`;
  if (stored > responses + runs.length * connections) {
    return `${responses} responses, but ${stored} results stored`;
  }
  return undefined;
};

const runBareInserts = async (
  group: ProcessGroup,
  source: string,
  resultsPerCommit: number,
): Promise<number> => {
  const script = programFile("bare-inserts.ts");
  const destination = join(dirname(source), `bare-${resultsPerCommit}.db`);
  const argv = [process.execPath, script, source, destination, String(resultsPerCommit)];
  const { stdout, stderr, exitCode } = await group.runCommand({ argv });
  if (exitCode !== 0) throw new Error(`the bare loop failed: ${stderr}`);
  const { results, durationMs } = JSON.parse(stdout) as { results: number; durationMs: number };
  return (results / durationMs) * 1000;
};

/** Each measurement uses a new database. The bare loop then inserts the results that Presage stored in it. */
export const measureThroughput = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  plan: EvaluationsPlan["throughput"],
): Promise<ThroughputSample[]> => {
  const samples: ThroughputSample[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const connections of plan.connections) {
      samples.push(await measureOnce(group, upstreamOrigin, plan, round, connections));
    }
  }
  return samples;
};

const measureOnce = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  { warmUpS, durationS }: EvaluationsPlan["throughput"],
  round: number,
  connections: number,
): Promise<ThroughputSample> => {
  const directory = join(workDirectory, `evaluate-${round}-${connections}`);
  const path = join(directory, "presage.db");
  const presage = await startPresage(group, upstreamOrigin, directory, `sqlite:${path}`);
  const request = { url: `${presage.origin}/v1/evaluate`, headers: presage.headers, body: evaluateBodies };
  const warmUp = await runWrk(group, request, connections, warmUpS, "evaluate.lua");
  const wrk = await runWrk(group, request, connections, durationS, "evaluate.lua");
  await group.stop(presage.process);
  const stored = countStored(path);
  const resultsPerCommit = countPerCommit(path);
  const sample = {
    round,
    connections,
    requestsPerSecond: (wrk.requests / wrk.durationUs) * 1e6,
    p50Us: wrk.p50Us,
    p99Us: wrk.p99Us,
    barePerSecond: await runBareInserts(group, path, bareResultsPerCommit),
    resultsPerCommit,
    barePerSecondAlike: await runBareInserts(group, path, Math.max(1, Math.round(resultsPerCommit))),
    problem: findProblem([warmUp, wrk], stored, connections),
  };
  rmSync(directory, { recursive: true, force: true });
  const rates = `${sample.requestsPerSecond.toFixed(0)}/s, bare loop ${sample.barePerSecond.toFixed(0)}/s, ${sample.barePerSecondAlike.toFixed(0)}/s with ${resultsPerCommit.toFixed(0)} in a commit`;
  const problem = sample.problem === undefined ? "" : `  FAILED: ${sample.problem}`;
  process.stdout.write(
    `evaluate  round ${round + 1}, ${connections} connections: ${rates}, ${stored} stored${problem}\n`,
  );
  return sample;
};
