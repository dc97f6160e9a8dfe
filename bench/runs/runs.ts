import {
  call,
  createDataset,
  createRun,
  finishRun,
  predictionLine,
  read,
  sampleLine,
  streamLines,
  uploadPredictions,
  uploadSamples,
} from "../lib/api.ts";
import { median, showProblem } from "../lib/figures.ts";
import { errorsOf, loadNow, runWrk, watch } from "../lib/load.ts";
import { type Database, openDatabases } from "../lib/postgres.ts";
import type { ProcessGroup } from "../lib/processes.ts";
import { type RunningPresage, startPresage } from "../lib/targets.ts";
import type { Upstream } from "../lib/upstream.ts";
import { readCpuMs, readMemory } from "../lib/usage.ts";

export const fullRunsPlan = {
  /** Imported predictions that three rules judge. */
  predictions: 100_000,
  reports: 5,
  /** The run alongside live predictions has more samples than it can predict in that time. */
  live: { rounds: 3, connections: 4, delayMs: 20, durationS: 8, samples: 60_000, concurrency: 64 },
  smallSamples: 1_000_000,
  largeSamples: 50_000,
};
export type RunsPlan = typeof fullRunsPlan;

export const quickRunsPlan: RunsPlan = {
  predictions: 10_000,
  reports: 3,
  live: { rounds: 1, connections: 4, delayMs: 20, durationS: 4, samples: 20_000, concurrency: 64 },
  smallSamples: 50_000,
  largeSamples: 2_000,
};

const smallBytes = 300;
const largeBytes = 10_000;

export interface RunsResult {
  readonly imports: readonly ImportSample[];
  readonly live: readonly LiveSample[];
  readonly smallUploads: readonly UploadSample[];
  readonly largeUploads: readonly UploadSample[];
}

/** Data sets, runs and reports, on both databases. */
export const runRuns = async (
  group: ProcessGroup,
  upstream: Upstream,
  plan: RunsPlan,
): Promise<RunsResult> => {
  const databases = await openDatabases(group, "runs-0", "runs-1", "runs-2");
  const imports: ImportSample[] = [];
  for (const database of databases.of["runs-0"])
    imports.push(await measureImport(group, upstream.origin, database, plan));
  const live = await measureLive(group, upstream, plan.live);
  await upstream.set(0);
  const upload = async (places: readonly Database[], samples: number, bytes: number) => {
    const measured: UploadSample[] = [];
    for (const place of places)
      measured.push(await measureUpload(group, upstream.origin, place, samples, bytes));
    return measured;
  };
  const smallUploads = await upload(databases.of["runs-1"], plan.smallSamples, smallBytes);
  const largeUploads = await upload(databases.of["runs-2"], plan.largeSamples, largeBytes);
  await databases.stop();
  return { imports, live, smallUploads, largeUploads };
};

interface ImportSample {
  readonly database: Database["database"];
  /** From the first byte of the upload until the run is finished. */
  readonly seconds: number;
  /** The part of that time that the upload took. */
  readonly uploadSeconds: number;
  readonly cpuSeconds: number;
  readonly peakRssBytes: number;
  readonly reportMs: number;
  /** The longest answer of a small request while reports were made. */
  readonly slowestMs: number;
  readonly load: number;
}

const rules = [{ evaluator: "exact-match" }, { evaluator: "state-change" }, { evaluator: "token-f1" }];

/** Predictions made elsewhere, which three rules judge, and the report on them. */
const measureImport = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  { database, url }: Database,
  { predictions, reports }: RunsPlan,
): Promise<ImportSample> => {
  const name = `runs-${database}`;
  const first = await startPresage(group, upstreamOrigin, name, url);
  const datasetId = await uploadSamples(first, "import", predictions, (index) =>
    sampleLine(index, smallBytes),
  );
  await group.stop(first.process);

  // A new process, whose peak memory does not include the upload of the samples.
  const presage = await startPresage(group, upstreamOrigin, name, url);
  const { pid } = presage.process;
  const cpuBeforeMs = readCpuMs(pid);
  const body = { dataset_id: datasetId, target: { predictions: "imported" }, evaluators: rules };
  const id = await createRun(presage, body);
  const startedAtMs = performance.now();
  await uploadPredictions(presage, id, streamLines(predictions, predictionLine));
  const uploadSeconds = (performance.now() - startedAtMs) / 1000;
  await finishRun(presage, id);
  const seconds = (performance.now() - startedAtMs) / 1000;
  const cpuSeconds = (readCpuMs(pid) - cpuBeforeMs) / 1000;
  const { peakRssBytes } = readMemory(pid);

  const made = [];
  for (let report = 0; report < reports; report += 1) made.push(await measureReport(presage, id));
  await group.stop(presage.process);
  const reportMs = median(made.map(({ tookMs }) => tookMs));
  const slowestMs = Math.max(...made.map((one) => one.slowestMs));
  const load = loadNow();
  process.stdout.write(
    `runs  ${database}: ${predictions} predictions and three rules in ${seconds.toFixed(1)} s (upload ${uploadSeconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of processor time), ${(peakRssBytes / 1e6).toFixed(0)} MB; report ${reportMs.toFixed(0)} ms, answers within ${slowestMs.toFixed(0)} ms; load ${load.toFixed(1)}\n`,
  );
  return { database, seconds, uploadSeconds, cpuSeconds, peakRssBytes, reportMs, slowestMs, load };
};

/** Asks for a report, and says how long the longest of many small requests took meanwhile: a blocked event loop delays them. */
const measureReport = async (
  presage: RunningPresage,
  runId: string,
): Promise<{ tookMs: number; slowestMs: number }> => {
  let slowestMs = 0;
  const watching = watch(5, async () => {
    const askedAtMs = performance.now();
    await (await fetch(`${presage.origin}/health`)).text();
    slowestMs = Math.max(slowestMs, performance.now() - askedAtMs);
  });
  const startedAtMs = performance.now();
  try {
    await (await call(presage, "GET", `/v1/runs/${runId}/report?format=json`)).text();
    const tookMs = performance.now() - startedAtMs;
    return { tookMs, slowestMs };
  } finally {
    await watching.stop();
  }
};

interface LiveSample {
  readonly round: number;
  readonly idleP99Us: number;
  readonly besideP99Us: number;
  /** Predictions that the run made meanwhile, each second. */
  readonly runPerSecond: number;
  readonly load: number;
  readonly problem: string | undefined;
}

/** The time until the run has its maximum of predictions in flight. */
const headStartMs = 1500;

/** Live predictions, alternately without a run and alongside one that asks the same upstream. */
const measureLive = async (
  group: ProcessGroup,
  upstream: Upstream,
  { rounds, connections, delayMs, durationS, samples, concurrency }: RunsPlan["live"],
): Promise<LiveSample[]> => {
  const presage = await startPresage(group, upstream.origin, "runs-live");
  const dataset_id = await uploadSamples(presage, "live", samples, (index) => sampleLine(index, smallBytes));
  await upstream.set(delayMs);
  const predict = () => runWrk(group, presage.predict, connections, durationS);
  await predict();

  const measured: LiveSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const idle = await predict();
    const evaluators = [{ evaluator: "exact-match" }];
    const target = { deployment: "default" };
    const id = await createRun(presage, { dataset_id, target, concurrency, evaluators });
    const predictedSoFar = async (): Promise<number> => {
      const run = await read<{ progress: { predicted: number } }>(presage, `/v1/runs/${id}`);
      return run.progress.predicted;
    };
    await Bun.sleep(headStartMs);
    const before = await predictedSoFar();
    const beside = await predict();
    const predicted = (await predictedSoFar()) - before;
    await call(presage, "POST", `/v1/runs/${id}/cancel`);
    await Bun.sleep(headStartMs);
    const failures = errorsOf(idle, beside);
    const sample = {
      round,
      idleP99Us: idle.p99Us,
      besideP99Us: beside.p99Us,
      runPerSecond: predicted / durationS,
      load: loadNow(),
      problem: failures.length > 0 ? failures.join(", ") : undefined,
    };
    measured.push(sample);
    process.stdout.write(
      `runs  live, round ${round + 1}: p99 ${idle.p99Us} µs idle, ${beside.p99Us} µs beside a run of ${concurrency} at once with ${sample.runPerSecond.toFixed(0)} predictions/s; load ${sample.load.toFixed(1)}${showProblem(sample.problem)}\n`,
    );
  }
  await group.stop(presage.process);
  return measured;
};

export interface UploadSample {
  readonly database: Database["database"];
  readonly samples: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly peakRssBytes: number;
  readonly load: number;
}

/** A data set of samples of one size. */
const measureUpload = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  { database, url }: Database,
  samples: number,
  sampleBytes: number,
): Promise<UploadSample> => {
  const presage = await startPresage(group, upstreamOrigin, `upload-${database}-${sampleBytes}`, url);
  const datasetId = await createDataset(presage, `of ${sampleBytes} bytes`);
  let bytes = 0;
  const lines = streamLines(samples, (index) => {
    const line = sampleLine(index, sampleBytes);
    bytes += line.length;
    return line;
  });
  const startedAtMs = performance.now();
  await call(presage, "POST", `/v1/datasets/${datasetId}/revisions`, lines);
  const seconds = (performance.now() - startedAtMs) / 1000;
  const { peakRssBytes } = readMemory(presage.process.pid);
  await group.stop(presage.process);
  const load = loadNow();
  process.stdout.write(
    `runs  ${database}: ${samples} samples of ${sampleBytes} bytes in ${seconds.toFixed(1)} s, ${(bytes / seconds / 1e6).toFixed(1)} MB/s, ${(peakRssBytes / 1e6).toFixed(0)} MB; load ${load.toFixed(1)}\n`,
  );
  return { database, samples, bytes, seconds, peakRssBytes, load };
};
