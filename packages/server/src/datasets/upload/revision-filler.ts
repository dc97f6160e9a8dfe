import { ServiceError } from "../../platform/errors.ts";
import type { DatasetPayloadsTable, DatasetSamplesTable } from "../../platform/storage/schema/datasets.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { UploadError } from "../../platform/upload-error.ts";
import { adaptBatch, firstBatchRows, letOthersWrite } from "../batch-size.ts";
import { type CanonicalSample, lineOf, type Part } from "../canonical-samples.ts";
import { growRevision, sumOfBytes } from "../revisions-store.ts";
import { hasStep, insertParts, insertPayloads, insertSamples } from "../samples-store.ts";

const maxBatchBytes = 1_000_000;
/** How many digests of stored parts are remembered. Other parts are sent to the store again, which ignores them. */
const maxKnownParts = 20_000;

export interface RevisionFiller {
  /** Adds a sample, and writes the batch if it is full: to be awaited before the next one. */
  add(sample: CanonicalSample, line: number): Promise<void> | undefined;
  /** Writes what is left. */
  flush(): Promise<void>;
  samples(): number;
}

interface Batch {
  samples: DatasetSamplesTable[];
  payloads: DatasetPayloadsTable[];
  parts: Map<string, Part>;
  /** The line of each sample. */
  lines: number[];
  /** What is written. */
  textBytes: number;
  /** What is exported. */
  lineBytes: number;
}

export interface FillerOptions {
  accountId: string;
  revisionId: number;
  quotaBytes: number;
  /** Receives the text of each line, in pieces. */
  onText(text: string): void;
}

/** Writes samples into a revision, in batches that hold the writer for some 20 ms. */
export function createRevisionFiller(database: Database, options: FillerOptions): RevisionFiller {
  const { accountId, revisionId, quotaBytes, onText } = options;
  const known = new Set<string>();
  let batch = emptyBatch();
  let maxRows = firstBatchRows;
  let count = 0;
  let wroteAtMs = Number.NEGATIVE_INFINITY;

  async function flush(): Promise<void> {
    if (batch.samples.length === 0 && batch.parts.size === 0) return;
    const full = batch;
    batch = emptyBatch();
    await letOthersWrite(database, wroteAtMs);
    const startedAtMs = performance.now();
    await database.transaction().execute((transaction) => write(transaction, full));
    wroteAtMs = performance.now();
    maxRows = adaptBatch(maxRows, rowsOf(full), wroteAtMs - startedAtMs);
    if (known.size > maxKnownParts) known.clear();
    for (const digest of full.parts.keys()) known.add(digest);
  }

  async function write(transaction: Database, { samples, payloads, parts, lines, lineBytes }: Batch) {
    const grown = { samples: samples.length, bytes: lineBytes };
    if (!(await growRevision(transaction, revisionId, grown))) throw abandoned();
    if ((await sumOfBytes(transaction, accountId)) > quotaBytes) throw quotaExceeded(quotaBytes);
    await insertParts(transaction, revisionId, parts.values());
    const stored = await insertSamples(transaction, samples);
    const refused = samples.findIndex(({ position }) => !stored.has(position));
    if (refused >= 0) throw await repeated(transaction, samples[refused], lines[refused]);
    await insertPayloads(transaction, payloads);
  }

  return {
    add(sample, line) {
      count += 1;
      const { parts, trajectoryId, step, sampleId, body } = sample;
      let bytes = 1;
      for (const text of lineOf(sample)) {
        onText(text);
        bytes += Buffer.byteLength(text);
      }
      onText("\n");
      const ids = { revision_id: revisionId, position: count };
      for (const part of parts) {
        if (known.has(part.digest) || batch.parts.has(part.digest)) continue;
        batch.parts.set(part.digest, part);
        batch.textBytes += part.text.length;
      }
      batch.samples.push({ ...ids, trajectory_id: trajectoryId, step, sample_id: sampleId, bytes });
      batch.payloads.push({ ...ids, part: parts.at(-1)?.digest ?? null, body });
      batch.lines.push(line);
      batch.textBytes += body.length;
      batch.lineBytes += bytes;
      return rowsOf(batch) >= maxRows || batch.textBytes >= maxBatchBytes ? flush() : undefined;
    },
    flush,
    samples: () => count,
  };
}

function emptyBatch(): Batch {
  return { samples: [], payloads: [], parts: new Map(), lines: [], textBytes: 0, lineBytes: 0 };
}

function rowsOf({ samples, parts }: Batch): number {
  return samples.length * 2 + parts.size;
}

async function repeated(
  database: Database,
  sample: DatasetSamplesTable | undefined,
  line: number | undefined,
): Promise<Error> {
  if (sample === undefined || line === undefined) return new Error("No sample was refused");
  const { trajectory_id, step, sample_id } = sample;
  return (await hasStep(database, sample))
    ? new UploadError({
        line,
        path: ["step"],
        reason: `An earlier line has step ${step} of trajectory ${trajectory_id}`,
      })
    : new UploadError({
        line,
        path: ["dataset_sample_id"],
        reason: `An earlier line has the id ${sample_id}`,
      });
}

function abandoned(): ServiceError {
  return new ServiceError(
    "conflict",
    "The dataset was deleted during the upload, or the upload was interrupted for too long.",
  );
}

function quotaExceeded(quotaBytes: number): ServiceError {
  return new ServiceError(
    "quota_exceeded",
    `The datasets of this account would have more than ${quotaBytes} bytes (PRESAGE_DATASET_QUOTA_BYTES). Delete one, and upload again.`,
  );
}
