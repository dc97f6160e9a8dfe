import { createHash } from "node:crypto";
import type { DatasetFormat, DatasetSample } from "@presage/contract";
import type { Changer } from "../../platform/actor.ts";
import { ServiceError } from "../../platform/errors.ts";
import { recordChange } from "../../platform/record-change.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { UploadError } from "../../platform/upload-error.ts";
import { createCanonicaliser } from "../canonical-samples.ts";
import { createSampleReader } from "../create-sample-reader.ts";
import { lockDataset, selectDataset, updateLastRevision } from "../datasets-store.ts";
import { noSuchDataset } from "../find-dataset.ts";
import { readPlacedSamples } from "../read-samples.ts";
import {
  discardRevision,
  growRevision,
  insertFillingRevision,
  type Revision,
  sealRevision,
  selectRevision,
  selectRevisionByDigest,
} from "../revisions-store.ts";
import { countTrajectories, selectSizes } from "../samples-store.ts";
import { createRevisionFiller } from "./revision-filler.ts";
import { type UploadLimits, uploadedLines } from "./uploaded-lines.ts";

/** Often enough that no upload in progress is taken for abandoned. */
const touchEveryMs = 60_000;

/** Hashing many short texts takes longer than joining them first. */
const hashedCharacters = 64 * 1024;

export interface Upload extends Pick<Changer, "accountId" | "actor">, UploadLimits {
  datasetId: string;
  /** Absent: the first line tells. */
  format: DatasetFormat | undefined;
  isGzip: boolean;
  /** Whether the lines of the latest revision come first. */
  isAppended: boolean;
  /** Of all datasets of the account. */
  quotaBytes: number;
}

export interface UploadedRevision {
  revision: Revision;
  /** False if the dataset already had a revision with these lines. */
  isNew: boolean;
}

/** Stores the lines of a body as a revision, which is visible once it is complete. If anything fails, none of it is kept. */
export async function uploadRevision(
  database: Database,
  upload: Upload,
  body: AsyncIterable<Uint8Array>,
): Promise<UploadedRevision> {
  const { accountId, datasetId } = upload;
  if ((await selectDataset(database, accountId, datasetId)) === undefined) throw noSuchDataset();
  const base = upload.isAppended ? await selectRevision(database, datasetId, undefined) : undefined;
  const id = await insertFillingRevision(database, accountId, datasetId);
  const touching = setInterval(() => touch(database, id), touchEveryMs);
  try {
    const { digest, warnings } = await fill(database, { id, base }, upload, body);
    const trajectories = await countTrajectories(database, id);
    const uploaded = await seal(database, upload, { id, digest, trajectories, base });
    if (!uploaded.isNew) await discardRevision(database, id);
    return { ...uploaded, revision: { ...uploaded.revision, warnings } };
  } catch (error) {
    // If that fails as well, it is found abandoned later.
    await discardRevision(database, id).catch(() => {});
    throw error;
  } finally {
    clearInterval(touching);
  }
}

function touch(database: Database, id: number): void {
  growRevision(database, id, { samples: 0, bytes: 0 }).catch(() => {});
}

/** Returns the digest of the lines, and what was passed over. */
async function fill(
  database: Database,
  { id: revisionId, base }: { id: number; base: Revision | undefined },
  { accountId, format, isGzip, maxBytes, floor, quotaBytes }: Upload,
  body: AsyncIterable<Uint8Array>,
): Promise<{ digest: string; warnings: string[] | undefined }> {
  const hash = createHash("sha256");
  let unhashed = "";
  const filler = createRevisionFiller(database, {
    accountId,
    revisionId,
    quotaBytes,
    onText(text) {
      unhashed += text;
      if (unhashed.length < hashedCharacters) return;
      hash.update(unhashed);
      unhashed = "";
    },
  });
  const reader = createSampleReader(format);
  const canonicalise = createCanonicaliser();
  if (base !== undefined) {
    for await (const sample of samplesOf(database, base.id)) {
      const added = filler.add(canonicalise(sample), 0);
      if (added !== undefined) await added;
    }
  }
  const baseSamples = filler.samples();
  for await (const lines of uploadedLines(database, body, { isGzip, maxBytes, floor })) {
    for (const line of lines) {
      for (const sample of reader.read(line)) {
        const added = filler.add(canonicalise(sample), line.number);
        if (added !== undefined) await added;
      }
    }
  }
  await filler.flush();
  if (filler.samples() === baseSamples) {
    throw new UploadError({ line: undefined, path: [], reason: "The body has no samples" });
  }
  return { digest: hash.update(unhashed).digest("hex"), warnings: reader.warnings() };
}

/** How many samples are measured at once. */
const samplesAtOnce = 1_000;

async function* samplesOf(database: Database, revisionId: number): AsyncGenerator<DatasetSample, void> {
  for (let after = 0; ; ) {
    const sizes = await selectSizes(database, revisionId, { after, limit: samplesAtOnce });
    for await (const piece of readPlacedSamples(database, revisionId, sizes)) {
      for (const { sample } of piece) yield sample;
    }
    const last = sizes.at(-1);
    if (last === undefined || sizes.length < samplesAtOnce) return;
    after = last.position;
  }
}

/** Gives the revision its number, unless the dataset has one with the same lines. */
async function seal(
  database: Database,
  { accountId, actor, datasetId, isAppended }: Upload,
  {
    id,
    digest,
    trajectories,
    base,
  }: Pick<Revision, "id" | "digest" | "trajectories"> & { base: Revision | undefined },
): Promise<UploadedRevision> {
  return await database.transaction().execute(async (transaction) => {
    const dataset = await lockDataset(transaction, accountId, datasetId);
    if (dataset === undefined) throw noSuchDataset();
    const earlier = await selectRevisionByDigest(transaction, datasetId, digest);
    if (earlier !== undefined) return { revision: earlier, isNew: false };
    if (isAppended && dataset.last_revision !== (base?.number ?? 0))
      throw new ServiceError("conflict", "Another revision was added during the upload. Repeat it.");
    const number = dataset.last_revision + 1;
    const revision = await sealRevision(transaction, id, { number, digest, trajectories });
    if (revision === undefined)
      throw new ServiceError("conflict", "The upload was interrupted for too long.");
    await updateLastRevision(transaction, datasetId, number);
    const detail = { name: dataset.name, revision: number, samples: revision.samples };
    const change = { action: "dataset.add_revision", objectId: datasetId, detail } as const;
    await recordChange(transaction, { accountId, actor }, change);
    return { revision, isNew: true };
  });
}
