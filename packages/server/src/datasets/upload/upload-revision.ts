import { createHash } from "node:crypto";
import type { DatasetSample, ImportPreview } from "@presage/contract";
import { type Changer, recordChange } from "../../platform/audit.ts";
import { conflict, notFound, ServiceError, UploadError } from "../../platform/errors.ts";
import { createWritePace } from "../../platform/storage/batches.ts";
import type { Looker } from "../../platform/storage/leases.ts";
import type { DatasetPayloadsTable, DatasetSamplesTable } from "../../platform/storage/schema/runs.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import {
  discardRevision,
  growRevision,
  insertFillingRevision,
  lockDataset,
  type Revision,
  sealRevision,
  selectDataset,
  selectRevision,
  selectRevisionByDigest,
  sumOfBytes,
  updateLastRevision,
} from "../datasets-store.ts";
import { type CanonicalSample, createCanonicaliser, lineOf, type Part } from "../formats.ts";
import { readAllLines } from "../samples.ts";
import { countTrajectories, hasStep, insertParts, insertPayloads, insertSamples } from "../samples-store.ts";
import { type ImportedSample, importedSamples, type ReadUpload, TraceImport } from "../traces/import.ts";
import { gunzip, type UploadLimits, withinDisk } from "./lines.ts";

const maxBatchBytes = 1_000_000;
/** How many digests of stored parts are remembered. Other parts are sent to the store again, which ignores them. */
const maxKnownParts = 20_000;

interface Batch {
  samples: DatasetSamplesTable[];
  payloads: DatasetPayloadsTable[];
  parts: Map<string, Part>;
  /** Each sample's place in the upload. */
  places: (Place | undefined)[];
  /** Size of what is written. */
  textBytes: number;
  /** Size of the lines that an export has. */
  lineBytes: number;
}

/** Writes samples into a revision, in batches that occupy the writer for about 20 ms. `onText` gets each line's text, in pieces. */
function createRevisionFiller(
  database: Database,
  { accountId, quotaBytes }: Pick<Upload, "accountId" | "quotaBytes">,
  revisionId: number,
  onText: (text: string) => void,
) {
  const known = new Set<string>();
  let batch = emptyBatch();
  const pace = createWritePace(database);
  let count = 0;

  async function flush(): Promise<void> {
    if (batch.samples.length === 0 && batch.parts.size === 0) return;
    const full = batch;
    batch = emptyBatch();
    await pace.write(rowsOf(full), () =>
      database.transaction().execute((transaction) => write(transaction, full)),
    );
    if (known.size > maxKnownParts) known.clear();
    for (const digest of full.parts.keys()) known.add(digest);
  }

  async function write(transaction: Database, { samples, payloads, parts, places, lineBytes }: Batch) {
    const grown = { samples: samples.length, bytes: lineBytes };
    if (!(await growRevision(transaction, revisionId, grown))) throw abandoned();
    if ((await sumOfBytes(transaction, accountId)) > quotaBytes) throw quotaExceeded(quotaBytes);
    await insertParts(transaction, revisionId, parts.values());
    const stored = await insertSamples(transaction, samples);
    const refused = samples.findIndex(({ position }) => !stored.has(position));
    if (refused >= 0) throw await repeated(transaction, samples[refused], places[refused]);
    await insertPayloads(transaction, payloads);
  }

  return {
    /** Adds a sample, and writes the batch if it is full. Await it before adding the next sample. */
    add(sample: CanonicalSample, at?: Place): Promise<void> | undefined {
      count += 1;
      const { parts, body, ...key } = sample;
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
      batch.samples.push({ ...ids, ...key, bytes });
      batch.payloads.push({ ...ids, part: parts.at(-1)?.digest ?? null, body });
      batch.places.push(at);
      batch.textBytes += body.length;
      batch.lineBytes += bytes;
      return rowsOf(batch) >= pace.maxRows() || batch.textBytes >= maxBatchBytes ? flush() : undefined;
    },
    /** Writes what is left. */
    flush,
    samples: () => count,
  };
}

function emptyBatch(): Batch {
  return { samples: [], payloads: [], parts: new Map(), places: [], textBytes: 0, lineBytes: 0 };
}

function rowsOf({ samples, parts }: Batch): number {
  return samples.length * 2 + parts.size;
}

async function repeated(database: Database, sample: DatasetSamplesTable | undefined, at: Place | undefined) {
  if (sample === undefined) return new Error("No sample was refused");
  const { trajectory_id, step, sample_id } = sample;
  const { place: [unit, line] = [], file } = at ?? {};
  const refused = (await hasStep(database, sample))
    ? { path: ["step"], reason: `An earlier line has step ${step} of trajectory ${trajectory_id}` }
    : { path: ["dataset_sample_id"], reason: `An earlier line has the id ${sample_id}` };
  return new UploadError({ unit, line, file, ...refused });
}

function abandoned(): ServiceError {
  return conflict("The dataset was deleted during the upload, or the upload was interrupted for too long.");
}

function quotaExceeded(quotaBytes: number): ServiceError {
  return new ServiceError(
    "quota_exceeded",
    `The datasets of this account would have more than ${quotaBytes} bytes (PRESAGE_DATASET_QUOTA_BYTES). Delete one, and upload again.`,
  );
}

/** Often enough that an upload in progress never counts as abandoned. */
const touchEveryMs = 60_000;

/** Hashing many short texts takes longer than joining them first. */
const hashedCharacters = 64 * 1024;

type Place = Pick<ImportedSample, "place" | "file">;

export interface Upload extends ReadUpload, Pick<Changer, "accountId" | "actor">, UploadLimits {
  datasetId: string;
  /** The options as they were given. */
  given: Record<string, string>;
  /** Whether the lines of the latest revision come first. */
  isAppended: boolean;
  /** The limit for all datasets of the account. */
  quotaBytes: number;
}

export interface UploadedRevision {
  revision: Revision;
  /** False if the dataset already had a revision with these lines. */
  isNew: boolean;
}

/** How uploads are stored, and within which limits. */
export interface DatasetUploads extends Readonly<UploadLimits> {
  /** The limit of all datasets of an account together. */
  readonly quotaBytes: number;
  readonly uploads: {
    uploadRevision(
      upload: Upload,
      body: AsyncIterable<Uint8Array>,
      signal: AbortSignal,
    ): Promise<UploadedRevision>;
    previewImport(
      upload: ReadUpload & { accountId: string },
      body: AsyncIterable<Uint8Array>,
      signal: AbortSignal,
    ): Promise<ImportPreview>;
  };
  /** Deletes the rows of what is no longer visible. */
  readonly sweeper: Pick<Looker, "schedule">;
}

/** Stores the lines of a body as a revision, which becomes visible once it is complete. If anything fails, nothing is kept. */
export async function uploadRevision(
  database: Database,
  upload: Upload,
  body: AsyncIterable<Uint8Array>,
): Promise<UploadedRevision> {
  const { accountId, datasetId } = upload;
  if ((await selectDataset(database, accountId, datasetId)) === undefined) throw notFound("dataset");
  const base = upload.isAppended ? await selectRevision(database, datasetId, undefined) : undefined;
  const id = await insertFillingRevision(database, accountId, datasetId);
  const touching = setInterval(() => touch(database, id), touchEveryMs);
  try {
    const { digest, warnings, read } = await fill(database, { id, base }, upload, body);
    const trajectories = await countTrajectories(database, id);
    const uploaded = await seal(database, upload, { id, digest, trajectories, base, read });
    if (!uploaded.isNew) await discardRevision(database, id);
    return { ...uploaded, revision: { ...uploaded.revision, warnings } };
  } catch (error) {
    // If this fails too, the sweeper later finds the revision abandoned.
    await discardRevision(database, id).catch(() => {});
    throw error;
  } finally {
    clearInterval(touching);
  }
}

function touch(database: Database, id: number): void {
  growRevision(database, id, { samples: 0, bytes: 0 }).catch(() => {});
}

/** Returns the digest of the lines, the warnings about what was left out, and what was read, as JSON. */
async function fill(
  database: Database,
  { id: revisionId, base }: { id: number; base: Revision | undefined },
  upload: Upload,
  body: AsyncIterable<Uint8Array>,
): Promise<{ digest: string; warnings: string[] | undefined; read: string }> {
  const { options, given } = upload;
  const hash = createHash("sha256");
  let unhashed = "";
  const filler = createRevisionFiller(database, upload, revisionId, (text) => {
    unhashed += text;
    if (unhashed.length < hashedCharacters) return;
    hash.update(unhashed);
    unhashed = "";
  });
  const canonicalise = createCanonicaliser();
  const traces = new TraceImport(options, upload.datasetId);
  if (base !== undefined) {
    for await (const lines of readAllLines(database, base.id)) {
      for (const line of lines) {
        const sample = JSON.parse(line) as DatasetSample;
        traces.follow(line, sample);
        const added = filler.add(canonicalise(sample));
        if (added !== undefined) await added;
      }
    }
  }
  const baseSamples = filler.samples();
  const chunks = withinDisk(database, upload.isGzip ? gunzip(body) : body, upload.floor);
  for await (const samples of importedSamples(chunks, upload, traces)) {
    if (traces.isRefused()) continue;
    for (const { sample, ...at } of samples) {
      const added = filler.add(canonicalise(sample), at);
      if (added !== undefined) await added;
    }
  }
  traces.check();
  await filler.flush();
  if (filler.samples() === baseSamples) throw noSamples(traces);
  const { samples: _, tools: __, with: ___, ...figures } = traces.figures();
  return {
    digest: hash.update(unhashed).digest("hex"),
    warnings: traces.warnings(),
    read: JSON.stringify({ ...figures, options: given }),
  };
}

function noSamples(traces: TraceImport): UploadError {
  const { left_out, files } = traces.figures();
  const counted = Object.entries(left_out).map(
    ([reason, count]) => `${count} ${reason.replaceAll("_", " ")}`,
  );
  const reason = files.length === 0 ? "The body is empty" : "The body has no samples";
  return new UploadError({
    line: undefined,
    path: [],
    reason: counted.length === 0 ? reason : `${reason}. Left out: ${counted.join(", ")}`,
  });
}

/** Gives the revision its number, unless the dataset has one with the same lines. */
async function seal(
  database: Database,
  { accountId, actor, datasetId, isAppended, options }: Upload,
  {
    id,
    digest,
    trajectories,
    base,
    read,
  }: Pick<Revision, "id" | "digest" | "trajectories"> & { base: Revision | undefined; read: string },
): Promise<UploadedRevision> {
  return await database.transaction().execute(async (transaction) => {
    const dataset = await lockDataset(transaction, accountId, datasetId);
    if (dataset === undefined) throw notFound("dataset");
    const earlier = await selectRevisionByDigest(transaction, datasetId, digest);
    if (earlier !== undefined) return { revision: earlier, isNew: false };
    if (isAppended && dataset.last_revision !== (base?.number ?? 0))
      throw conflict("Another revision was added during the upload. Repeat it.");
    const number = dataset.last_revision + 1;
    const revision = await sealRevision(transaction, id, { number, digest, trajectories, import: read });
    if (revision === undefined) throw conflict("The upload was interrupted for too long.");
    await updateLastRevision(transaction, datasetId, number);
    const redact = options.redaction === "none" ? { redact: "none" } : {};
    const detail = { name: dataset.name, revision: number, samples: revision.samples, ...redact };
    await recordChange(transaction, { accountId, actor }, "dataset.add_revision", datasetId, detail);
    return { revision, isNew: true };
  });
}
