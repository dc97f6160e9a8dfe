import { loadavg } from "node:os";
import { join } from "node:path";
import { startPresage } from "../evaluations/start-presage.ts";
import { readCpuMs, readMemory } from "../host/process-account.ts";
import { median } from "../median.ts";
import { workDirectory } from "../paths.ts";
import type { ProcessGroup } from "../processes.ts";
import { call, createDataset, createRun, finishRun } from "./call-presage.ts";
import type { RunsPlan } from "./plan-runs.ts";
import { predictionLine, sampleLine, streamLines } from "./stream-samples.ts";
import { watchAnswers } from "./watch-answers.ts";

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
export const measureImport = async (
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
