import { loadavg } from "node:os";
import { join } from "node:path";
import {
  call,
  createDataset,
  createRun,
  finishRun,
  predictionLine,
  sampleLine,
  streamLines,
} from "../lib/api.ts";
import { median } from "../lib/figures.ts";
import { runWrk } from "../lib/load.ts";
import { startPostgres } from "../lib/postgres.ts";
import { type ProcessGroup, workDirectory } from "../lib/processes.ts";
import { type RunningPresage, startPresage } from "../lib/targets.ts";
import type { Upstream } from "../lib/upstream.ts";
import { readCpuMs, readMemory } from "../lib/usage.ts";

export interface RunsPlan {
  /** Imported predictions that three rules judge. */
  readonly predictions: number;
  readonly reports: number;
  readonly live: {
    readonly rounds: number;
    readonly connections: number;
    readonly delayMs: number;
    readonly durationS: number;
    /** Samples of the run beside it; more than it can predict in that time. */
    readonly samples: number;
    readonly concurrency: number;
  };
  readonly smallSamples: number;
  readonly largeSamples: number;
}

export const fullRunsPlan: RunsPlan = {
  predictions: 100_000,
  reports: 5,
  live: { rounds: 3, connections: 4, delayMs: 20, durationS: 8, samples: 60_000, concurrency: 64 },
  smallSamples: 1_000_000,
  largeSamples: 50_000,
};

export const quickRunsPlan: RunsPlan = {
  predictions: 10_000,
  reports: 3,
  live: { rounds: 1, connections: 4, delayMs: 20, durationS: 4, samples: 20_000, concurrency: 64 },
  smallSamples: 50_000,
  largeSamples: 2_000,
};

const askEveryMs = 5;

/** Does some work, and says how long the longest of many small requests took meanwhile: a blocked event loop delays them. */
const watchAnswers = async <Value>(
  { origin }: RunningPresage,
  work: () => Promise<Value>,
): Promise<{ value: Value; tookMs: number; slowestMs: number }> => {
  let isDone = false;
  let slowestMs = 0;
  const watch = async (): Promise<void> => {
    while (!isDone) {
      const askedAtMs = performance.now();
      await (await fetch(`${origin}/health`)).text();
      slowestMs = Math.max(slowestMs, performance.now() - askedAtMs);
      await Bun.sleep(askEveryMs);
    }
  };
  const watching = watch();
  const startedAtMs = performance.now();
  try {
    const value = await work();
    return { value, tookMs: performance.now() - startedAtMs, slowestMs };
  } finally {
    isDone = true;
    await watching;
  }
};

export interface UploadSample {
  readonly database: "SQLite" | "PostgreSQL";
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
  { database, url }: { database: UploadSample["database"]; url: string },
  samples: number,
  sampleBytes: number,
): Promise<UploadSample> => {
  const directory = join(workDirectory, `upload-${database}-${sampleBytes}`);
  const presage = await startPresage(group, upstreamOrigin, directory, url);
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
  const load = loadavg()[0] ?? 0;
  process.stdout.write(
    `runs  ${database}: ${samples} samples of ${sampleBytes} bytes in ${seconds.toFixed(1)} s, ${(bytes / seconds / 1e6).toFixed(1)} MB/s, ${(peakRssBytes / 1e6).toFixed(0)} MB; load ${load.toFixed(1)}\n`,
  );
  return { database, samples, bytes, seconds, peakRssBytes, load };
};

export interface ImportSample {
  readonly database: "SQLite" | "PostgreSQL";
  readonly predictions: number;
  /** From the first byte of the upload until the run is finished. */
  readonly seconds: number;
  /** How much of it was the upload. */
  readonly uploadSeconds: number;
  readonly cpuSeconds: number;
  readonly peakRssBytes: number;
  readonly reportMs: number;
  /** The longest answer of a small request while reports were made. */
  readonly slowestMs: number;
  readonly load: number;
}

const sampleBytes = 300;
const rules = [{ evaluator: "exact-match" }, { evaluator: "state-change" }, { evaluator: "token-f1" }];

/** Predictions made elsewhere, which three rules judge, and the report on them. */
const measureImport = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  database: ImportSample["database"],
  url: string,
  { predictions, reports }: RunsPlan,
): Promise<ImportSample> => {
  const directory = join(workDirectory, `runs-${database}`);
  const first = await startPresage(group, upstreamOrigin, directory, url);
  const datasetId = await createDataset(first, "import");
  const lines = streamLines(predictions, (index) => sampleLine(index, sampleBytes));
  await call(first, "POST", `/v1/datasets/${datasetId}/revisions`, lines);
  await group.stop(first.process);

  // A new process: the peak of its memory is not the upload's of the samples.
  const presage = await startPresage(group, upstreamOrigin, directory, url);
  const { pid } = presage.process;
  const cpuBeforeMs = readCpuMs(pid);
  const body = { dataset_id: datasetId, target: { predictions: "imported" }, evaluators: rules };
  const { id } = await createRun(presage, body);
  const startedAtMs = performance.now();
  await call(presage, "POST", `/v1/runs/${id}/predictions`, streamLines(predictions, predictionLine));
  const uploadSeconds = (performance.now() - startedAtMs) / 1000;
  await finishRun(presage, id);
  const seconds = (performance.now() - startedAtMs) / 1000;
  const cpuSeconds = (readCpuMs(pid) - cpuBeforeMs) / 1000;
  const { peakRssBytes } = readMemory(pid);

  const made = [];
  for (let report = 0; report < reports; report += 1) {
    const path = `/v1/runs/${id}/report?format=json`;
    made.push(await watchAnswers(presage, async () => (await call(presage, "GET", path)).text()));
  }
  await group.stop(presage.process);
  const sample = {
    database,
    predictions,
    seconds,
    uploadSeconds,
    cpuSeconds,
    peakRssBytes,
    reportMs: median(made.map(({ tookMs }) => tookMs)),
    slowestMs: Math.max(...made.map(({ slowestMs }) => slowestMs)),
    load: loadavg()[0] ?? 0,
  };
  process.stdout.write(
    `runs  ${database}: ${predictions} predictions and three rules in ${seconds.toFixed(1)} s (upload ${uploadSeconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of processor time), ${(peakRssBytes / 1e6).toFixed(0)} MB; report ${sample.reportMs.toFixed(0)} ms, answers within ${sample.slowestMs.toFixed(0)} ms; load ${sample.load.toFixed(1)}\n`,
  );
  return sample;
};

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
const measureLive = async (
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

export interface RunsResult {
  readonly imports: readonly ImportSample[];
  readonly live: readonly LiveSample[];
  readonly smallUploads: readonly UploadSample[];
  readonly largeUploads: readonly UploadSample[];
}

const smallBytes = 300;
const largeBytes = 10_000;

/** Data sets, runs and reports, on both databases. */
export const runRuns = async (
  group: ProcessGroup,
  upstream: Upstream,
  plan: RunsPlan,
): Promise<RunsResult> => {
  const postgres = await startPostgres(group, 3);
  const databases = [0, 1, 2].map((place) => [
    { database: "SQLite" as const, url: `sqlite:${join(workDirectory, `runs-${place}.db`)}` },
    ...(postgres === undefined ? [] : [{ database: "PostgreSQL" as const, url: postgres.urls[place] ?? "" }]),
  ]);
  const [ofImports = [], ofSmall = [], ofLarge = []] = databases;
  const imports: ImportSample[] = [];
  for (const { database, url } of ofImports)
    imports.push(await measureImport(group, upstream.origin, database, url, plan));
  const live = await measureLive(group, upstream, plan.live);
  await upstream.set(0);
  const upload = async (places: typeof ofSmall, samples: number, bytes: number): Promise<UploadSample[]> => {
    const measured: UploadSample[] = [];
    for (const place of places)
      measured.push(await measureUpload(group, upstream.origin, place, samples, bytes));
    return measured;
  };
  const smallUploads = await upload(ofSmall, plan.smallSamples, smallBytes);
  const largeUploads = await upload(ofLarge, plan.largeSamples, largeBytes);
  if (postgres !== undefined) await group.stop(postgres.process);
  return { imports, live, smallUploads, largeUploads };
};
