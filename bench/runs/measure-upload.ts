import { loadavg } from "node:os";
import { join } from "node:path";
import { startPresage } from "../evaluations/start-presage.ts";
import { readMemory } from "../host/process-account.ts";
import { workDirectory } from "../paths.ts";
import type { ProcessGroup } from "../processes.ts";
import { call, createDataset } from "./call-presage.ts";
import { sampleLine, streamLines } from "./stream-samples.ts";

export interface UploadSample {
  readonly database: "SQLite" | "PostgreSQL";
  readonly samples: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly peakRssBytes: number;
  readonly load: number;
}

/** A data set of samples of one size. */
export const measureUpload = async (
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
