import type { ImportPreview } from "@presage/contract";
import { UploadError } from "../../platform/errors.ts";
import { createCanonicaliser, lineOf } from "../formats.ts";
import { gunzip } from "../upload/lines.ts";
import { filesOf, type Reading, readDocuments } from "./documents/documents.ts";
import { type ImportedSample, type ImportOptions, TraceImport } from "./import.ts";
import { layouts } from "./layouts.ts";

export interface ReadUpload {
  /** How its files become samples. */
  options: ImportOptions;
  /** The file's name, if the body is one file. */
  source: string | undefined;
  /** `multipart/form-data` has several files. */
  contentType: string | undefined;
  isGzip: boolean;
  /** Decompressed. */
  maxBytes: number;
}

/** The samples of all files of an upload, in their order. */
export async function* importedSamples(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, contentType, source }: ReadUpload,
  traces: TraceImport,
  reading: Reading = { maxBytes },
): AsyncGenerator<ImportedSample[], void> {
  for await (const file of filesOf(chunks, { contentType, source }))
    yield* traces.read(file.name, readDocuments(file.chunks, reading));
}

/** How much of an upload is read, decompressed. */
const previewBytes = 64 * 1024 * 1024;
const firstSamples = 3;

/** What an upload would store, of its first 64 MiB. Nothing is stored. Faults are reported, whatever becomes of them in an upload. */
export async function previewImport(
  upload: ReadUpload,
  body: AsyncIterable<Uint8Array>,
): Promise<ImportPreview> {
  // Which sample tests depends on the dataset.
  const traces = new TraceImport({ ...upload.options, split: undefined });
  const trajectories = new Set<string>();
  const canonicalise = createCanonicaliser();
  const first: ImportPreview["first"] = [];
  const reading = { maxBytes: upload.maxBytes, stopAtBytes: previewBytes, isComplete: true };
  const chunks = upload.isGzip ? gunzip(body) : body;
  for await (const samples of importedSamples(chunks, upload, traces, reading)) {
    for (const { sample } of samples) trajectories.add(sample.trajectory_id);
    for (const { sample } of samples.slice(0, firstSamples - first.length))
      first.push(JSON.parse([...lineOf(canonicalise(sample))].join("")));
  }
  const figures = traces.figures();
  if (figures.files.length === 0 && figures.faults.length === 0)
    throw new UploadError({ line: undefined, path: [], reason: "The body is empty" });
  const told = new Set(figures.files.map(({ format }) => format));
  return {
    ...figures,
    trajectories: trajectories.size,
    first,
    complete: reading.isComplete,
    other_formats: layouts
      .filter(({ format }) => !told.has(format))
      .map(({ format, about }) => ({ format, why_not: `It needs ${about.recognised_by}.` })),
  };
}
