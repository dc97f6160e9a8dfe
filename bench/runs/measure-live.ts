import { loadavg } from "node:os";
import { join } from "node:path";
import { startPresage } from "../evaluations/start-presage.ts";
import { runWrk } from "../load/run-wrk.ts";
import { workDirectory } from "../paths.ts";
import type { ProcessGroup } from "../processes.ts";
import type { Upstream } from "../targets/start-upstream.ts";
import { call, createDataset, createRun } from "./call-presage.ts";
import type { RunsPlan } from "./plan-runs.ts";
import { sampleLine, streamLines } from "./stream-samples.ts";

export interface LiveSample {
  readonly round: number;
  readonly idleP99Us: number;
  readonly besideP99Us: number;
  /** Predictions that the run made meanwhile, each second. */
  readonly runPerSecond: number;
  readonly load: number;
  readonly problem: string | undefined;
}

/** Until as many of the run's predictions are in flight as may be. */
const headStartMs = 1500;

/** Live predictions without a run, and beside one that asks the same upstream, in turns. */
export const measureLive = async (
  group: ProcessGroup,
  upstream: Upstream,
  { rounds, connections, delayMs, durationS, samples, concurrency }: RunsPlan["live"],
): Promise<LiveSample[]> => {
  const directory = join(workDirectory, "runs-live");
  const url = `sqlite:${join(directory, "presage.db")}`;
  const presage = await startPresage(group, upstream.origin, directory, url);
  const dataset_id = await createDataset(presage, "live");
  const lines = streamLines(samples, (index) => sampleLine(index, 300));
  await call(presage, "POST", `/v1/datasets/${dataset_id}/revisions`, lines);
  await upstream.set(delayMs);
  const predict = () => runWrk(group, presage.predict, connections, durationS);
  await predict();

  const measured: LiveSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const idle = await predict();
    const body = { dataset_id, target: { deployment: "default" }, concurrency };
    const { id } = await createRun(presage, { ...body, evaluators: [{ evaluator: "exact-match" }] });
    const predictedSoFar = async (): Promise<number> => {
      const run = await (await call(presage, "GET", `/v1/runs/${id}`)).json();
      return (run as { progress: { predicted: number } }).progress.predicted;
    };
    await Bun.sleep(headStartMs);
    const before = await predictedSoFar();
    const beside = await predict();
    const predicted = (await predictedSoFar()) - before;
    await call(presage, "POST", `/v1/runs/${id}/cancel`);
    await Bun.sleep(headStartMs);
    const failures = [idle, beside].flatMap(({ errors }) => Object.values(errors)).reduce((a, b) => a + b, 0);
    const sample = {
      round,
      idleP99Us: idle.p99Us,
      besideP99Us: beside.p99Us,
      runPerSecond: predicted / durationS,
      load: loadavg()[0] ?? 0,
      problem: failures > 0 ? `${failures} requests failed` : undefined,
    };
    measured.push(sample);
    const problem = sample.problem === undefined ? "" : `  FAILED: ${sample.problem}`;
    process.stdout.write(
      `runs  live, round ${round + 1}: p99 ${idle.p99Us} µs idle, ${beside.p99Us} µs beside a run of ${concurrency} at once with ${sample.runPerSecond.toFixed(0)} predictions/s; load ${sample.load.toFixed(1)}${problem}\n`,
    );
  }
  await group.stop(presage.process);
  return measured;
};
