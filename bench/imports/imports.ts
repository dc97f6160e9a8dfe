import { rmSync } from "node:fs";
import { join } from "node:path";
import { call, createDataset, sampleLine, streamLines } from "../lib/api.ts";
import { loadNow, watch } from "../lib/load.ts";
import { type Database, openDatabases } from "../lib/postgres.ts";
import { bun, type ProcessGroup, programFile, workDirectory } from "../lib/processes.ts";
import { startPresage } from "../lib/targets.ts";
import type { Upstream } from "../lib/upstream.ts";
import { readCpuMs, readMemory } from "../lib/usage.ts";
import type { ReadTraces } from "../programs/read-traces.ts";
import { type TraceFormat, writeTraces } from "./traces.ts";

export const fullImportsPlan = { rounds: 3, bytes: 1e9, samples: 100_000, sampleBytes: 1_000 };
export type ImportsPlan = typeof fullImportsPlan;
export const quickImportsPlan: ImportsPlan = { ...fullImportsPlan, rounds: 1, bytes: 100e6, samples: 10_000 };

/** The files that are read, by their titles in the tables. */
const files: readonly (readonly [title: string, format: TraceFormat, isArray: boolean])[] = [
  ["`chat`, lines", "chat", false],
  ["`openai-chat`, lines", "openai-chat", false],
  ["`openai-chat`, an array", "openai-chat", true],
  ["`otel-genai`, lines", "otel-genai", false],
];

/** Variables that a server sets before it starts, because its threads depend on them. */
const settings = {
  BUN_JSC_forceRAMSize: "301989888",
  BUN_JSC_thresholdForJITAfterWarmUp: "3000",
  BUN_JSC_thresholdForOptimizeAfterWarmUp: "8000",
};

export interface ReadSample {
  readonly round: number;
  readonly title: string;
  readonly imported: ReadTraces;
  /** `JSON.parse` of the same lines. */
  readonly parsed: ReadTraces;
  readonly load: number;
}

export interface StoredSample {
  readonly round: number;
  readonly database: Database["database"];
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakRssBytes: number;
  /** Latencies of small writes, one after the other, meanwhile. */
  readonly writeMs: { readonly median: number; readonly p99: number; readonly longest: number };
  readonly load: number;
}

export interface ImportsResult {
  readonly reads: readonly ReadSample[];
  readonly stored: readonly StoredSample[];
}

export const runImports = async (
  group: ProcessGroup,
  upstream: () => Promise<Upstream>,
  plan: ImportsPlan,
): Promise<ImportsResult> => {
  const reads: ReadSample[] = [];
  for (const [title, format, isArray] of files)
    reads.push(...(await measureReads(group, title, format, isArray, plan)));
  const stored: StoredSample[] = [];
  const { origin } = await upstream();
  const names = Array.from({ length: plan.rounds }, (_, round) => `imports-${round}`);
  const databases = await openDatabases(group, ...names);
  for (const [round, name] of names.entries())
    for (const database of databases.of[name] ?? [])
      stored.push(await measureStored(group, origin, database, round, plan));
  await databases.stop();
  return { reads, stored };
};

/** A file read as an import, and its lines by `JSON.parse` alone, in turns. */
const measureReads = async (
  group: ProcessGroup,
  title: string,
  format: TraceFormat,
  isArray: boolean,
  { rounds, bytes }: ImportsPlan,
): Promise<ReadSample[]> => {
  const path = join(workDirectory, "traces.jsonl");
  await writeTraces(path, format, bytes, isArray);
  const read = async (mode: "import" | "parse"): Promise<ReadTraces> => {
    const argv = [bun, programFile("read-traces.ts"), mode, path];
    return JSON.parse(await group.outputOf(`${mode} of ${title}`, { argv, env: settings }));
  };
  const measured: ReadSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const parsed = await read("parse");
    const imported = await read("import");
    const sample = { round, title, imported, parsed, load: loadNow() };
    measured.push(sample);
    process.stdout.write(
      `imports  ${title}, round ${round + 1}: ${(bytes / imported.cpuSeconds / 1e6).toFixed(1)} MB/s of processor time, ${(bytes / imported.seconds / 1e6).toFixed(1)} MB/s, +${((imported.peakRssBytes - imported.startRssBytes) / 1e6).toFixed(0)} MB; parsed ${(bytes / parsed.cpuSeconds / 1e6).toFixed(0)} MB/s; load ${sample.load.toFixed(1)}\n`,
    );
  }
  rmSync(path);
  return measured;
};

const writeEveryMs = 20;

/** A dataset of small samples, stored while another client writes a little. */
const measureStored = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  { database, url }: Database,
  round: number,
  { samples, sampleBytes }: ImportsPlan,
): Promise<StoredSample> => {
  const presage = await startPresage(group, upstreamOrigin, `imports-${database}-${round}`, url);
  const { pid } = presage.process;
  const id = await createDataset(presage, "stored");
  const lines = streamLines(samples, (index) => sampleLine(index, sampleBytes));
  const cpuBeforeMs = readCpuMs(pid);
  const tookMs: number[] = [];
  const writing = watch(writeEveryMs, async () => {
    const askedAtMs = performance.now();
    await createDataset(presage, `beside ${tookMs.length}`);
    tookMs.push(performance.now() - askedAtMs);
  });
  const startedAtMs = performance.now();
  try {
    await call(presage, "POST", `/v1/datasets/${id}/revisions`, lines);
  } finally {
    await writing.stop();
  }
  const seconds = (performance.now() - startedAtMs) / 1000;
  const cpuSeconds = (readCpuMs(pid) - cpuBeforeMs) / 1000;
  const { peakRssBytes } = readMemory(pid);
  await group.stop(presage.process);
  const sorted = tookMs.sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  const writeMs = { median: at(0.5), p99: at(0.99), longest: at(1) };
  const load = loadNow();
  process.stdout.write(
    `imports  ${database}, round ${round + 1}: ${samples} samples in ${seconds.toFixed(1)} s (${cpuSeconds.toFixed(1)} s of processor time), ${(peakRssBytes / 1e6).toFixed(0)} MB; writes meanwhile ${writeMs.median.toFixed(1)} ms, p99 ${writeMs.p99.toFixed(0)} ms, longest ${writeMs.longest.toFixed(0)} ms; load ${load.toFixed(1)}\n`,
  );
  return { round, database, seconds, cpuSeconds, peakRssBytes, writeMs, load };
};
