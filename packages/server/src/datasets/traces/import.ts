import type { DatasetFormat, DatasetImport, ImportPreview } from "@presage/contract";
import { UploadError, type UploadFault } from "../../platform/errors.ts";
import { andMore } from "../../platform/words.ts";
import { createCanonicaliser, lineOf, type ReadSample } from "../formats.ts";
import { gunzip, LineError } from "../upload/lines.ts";
import { idOf, TraceTexts } from "./content.ts";
import { type FilePart, filesOf, type Reading, readParts, type UploadedFile } from "./documents/documents.ts";
import { type ImportOptions, inItsSplit } from "./import-options.ts";
import type { Recorded, TraceDocument } from "./layout.ts";
import { folderOfPart } from "./layouts/agents/openhands.ts";
import { layouts, UnrecognisedError } from "./layouts.ts";
import { createRedactor } from "./redaction/redact.ts";
import { checkLimits, maxSteps, samplesOfTrace, TraceFile } from "./trace-file.ts";
import type { Trace } from "./turns.ts";

export interface ReadUpload {
  /** How the upload's files become samples. */
  options: ImportOptions;
  /** The file's name, if the body is one file. */
  source: string | undefined;
  /** `multipart/form-data` contains several files. */
  contentType: string | undefined;
  isGzip: boolean;
  /** Limit on decompressed bytes. */
  maxBytes: number;
}

/** A sample and its place in its file. */
export interface ImportedSample {
  sample: ReadSample;
  place: TraceDocument["place"];
  file: string | undefined;
}

/** Figures of what an import has read. */
interface ImportFigures extends Omit<DatasetImport, "options"> {
  samples: number;
  tools: string[];
  with: { time: number; usage: number; reward: number; done: number };
}

/** The batch size for samples that a file yields only at its end, which may be all of them. */
const batchSamples = 20;
const maxListed = 100;
/** How much of an upload a preview reads, decompressed. */
const previewBytes = 64 * 1024 * 1024;
const firstSamples = 3;

/** What an upload would store, from its first 64 MiB. Nothing is stored. Faults are reported whether or not an upload would skip them. */
export async function previewImport(
  upload: ReadUpload,
  body: AsyncIterable<Uint8Array>,
): Promise<ImportPreview> {
  const traces = new TraceImport(upload.options);
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
    warnings: traces.warnings(),
    trajectories: trajectories.size,
    first,
    complete: reading.isComplete,
    other_formats: layouts
      .filter(({ format }) => !told.has(format))
      .map(({ format, about }) => ({ format, why_not: `It needs ${about.recognised_by}.` })),
  };
}

/** The samples of all files of an upload, in their order. */
export async function* importedSamples(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, contentType, source }: ReadUpload,
  traces: TraceImport,
  reading: Reading = { maxBytes },
): AsyncGenerator<ImportedSample[], void> {
  for await (const { name, parts } of joinedFiles(filesOf(chunks, { contentType, source }), reading))
    yield* traces.read(name, parts);
}

/** The files of an upload; those whose names make them parts of one conversation are joined into one, as in a zip. */
async function* joinedFiles(files: AsyncGenerator<UploadedFile, void>, reading: Reading) {
  try {
    let next = await files.next();
    while (!next.done) {
      const { name, chunks } = next.value;
      const folder = folderOfPart(name);
      if (folder === undefined) {
        yield { name, parts: readParts(chunks, reading) };
        // What a preview leaves unread is not consumed, so the next file would never arrive.
        if (reading.isComplete === false) return;
        next = await files.next();
        continue;
      }
      async function* parts() {
        while (!next.done && folderOfPart(next.value.name) === folder) {
          yield* readParts(next.value.chunks, reading, next.value.name);
          if (reading.isComplete === false) return;
          next = await files.next();
        }
      }
      yield { name: folder || name, parts: parts() };
      if (reading.isComplete === false) return;
    }
  } finally {
    await files.return();
  }
}

/** Reads the files of one import, one after another. */
export class TraceImport {
  readonly #options: ImportOptions;
  readonly #texts: TraceTexts;
  readonly #takenIds = new Set<string>();
  /** The ids in the revision that the import is appended to. */
  readonly #earlierIds = new Set<string>();
  /** For the file being read: the ids under which its conversations are stored, by the ids that it gives them. */
  readonly #ownIds = new Map<string, string>();
  /** The last number used for each repeated id: all lines without ids get their file's. */
  readonly #repeated = new Map<string, number>();
  readonly #salt: string | undefined;
  readonly #faults: UploadFault[] = [];
  readonly #files: DatasetImport["files"] = [];
  readonly #formats = new Set<DatasetFormat>();
  readonly #tools = new Set<string>();
  readonly #warnings: string[] = [];
  readonly #with = { time: 0, usage: 0, reward: 0, done: 0 };
  /** The number of files with a known format. */
  #known = 0;
  #samples = 0;
  #documents = 0;
  #faulty = 0;

  constructor(options: ImportOptions, datasetId?: string) {
    this.#options = options;
    this.#salt = datasetId;
    const { redaction, rules } = options;
    this.#texts = new TraceTexts(createRedactor(redaction ?? "default", rules));
  }

  /** Takes note of a line that the revision already has. */
  follow(line: string, { trajectory_id }: ReadSample): void {
    this.#earlierIds.add(trajectory_id);
    this.#takenIds.add(trajectory_id);
    this.#texts.keepNumbers(line);
  }

  /**
   * The samples of a file, in order. What cannot be read is a fault, which `check` reports. In a zip, parts of unknown format are
   * skipped.
   */
  async *read(
    name: string | undefined,
    parts: AsyncIterable<FilePart>,
  ): AsyncGenerator<ImportedSample[], void> {
    const known = this.#known;
    const unknown: UnrecognisedError[] = [];
    let file: TraceFile | undefined;
    try {
      for await (const { entry, documents, isForeign } of parts) {
        if (isForeign) {
          unknown.push(new UnrecognisedError([], entry));
          continue;
        }
        let [read, faulty, listed] = [this.#documents, this.#faulty, this.#faults.length];
        let notJson = 0;
        try {
          for await (const found of documents) {
            const samples: ImportedSample[] = [];
            for (const one of found) {
              this.#documents += 1;
              if ("fault" in one) {
                const { place, reason, path } = one.fault;
                if (isNotJson.test(reason)) notJson += 1;
                this.#addFault(entry ?? name, { place }, new LineError(reason, path));
                continue;
              }
              const { document } = one;
              if (file !== undefined && file.entry !== entry && !file.joins(document)) {
                if (samples.length > 0) yield samples.splice(0);
                yield* this.#end(file);
                file = undefined;
                // The previous file's faults remain, whatever format this one has.
                [read, faulty, listed] = [this.#documents - 1, this.#faulty, this.#faults.length];
              }
              file ??= new TraceFile(name, entry, this.#fileOptions(name));
              samples.push(...this.#samplesOf(file, file.add(document)));
            }
            if (samples.length > 0) yield samples;
          }
          const isNoJson = file === undefined && notJson > 0 && notJson === this.#faulty - faulty;
          if (isNoJson && this.#options.format === undefined) throw new UnrecognisedError([], entry ?? name);
          if (file !== undefined && !file.joinsEntries()) {
            yield* this.#end(file);
            file = undefined;
          }
        } catch (error) {
          if (entry === undefined || !(error instanceof UnrecognisedError)) throw error;
          unknown.push(error);
          [this.#documents, this.#faulty, this.#faults.length] = [read, faulty, listed];
          if (file !== undefined) this.#close(file);
          file = undefined;
        }
      }
      if (file !== undefined) yield* this.#end(file);
      file = undefined;
    } finally {
      if (file !== undefined) this.#close(file);
    }
    const [first] = unknown;
    if (first === undefined) return;
    if (this.#known === known) throw first;
    this.#warnings.push(passedOver(unknown));
  }

  /** Throws an `UploadError` with the faults if they may not be skipped, or if there are too many. */
  check(): void {
    if (this.#faulty === 0) return;
    if (this.#options.skipsFaults && this.#faulty * 2 <= this.#documents) return;
    throw new UploadError(this.#faults, this.#faulty);
  }

  /** Whether nothing more should be stored. */
  isRefused(): boolean {
    return this.#faulty > 0 && !this.#options.skipsFaults;
  }

  warnings(): string[] | undefined {
    return this.#warnings.length === 0 ? undefined : this.#warnings;
  }

  figures(): ImportFigures {
    const [only, ...others] = this.#formats;
    return {
      format: others.length > 0 || only === undefined ? "mixed" : only,
      files: this.#files,
      samples: this.#samples,
      tools: [...this.#tools],
      with: { ...this.#with },
      left_out: this.#texts.leftOut.counts(),
      redacted: this.#texts.redacted(),
      repaired: this.#texts.repaired(),
      skipped: this.#faulty,
      faults: this.#faults.map(toImportFault),
    };
  }

  #fileOptions(name: string | undefined) {
    const { format, assistantIs, score } = this.#options;
    return {
      format,
      assistantIs,
      score,
      leftOut: this.#texts.leftOut,
      onFault: (document: TraceDocument, error: LineError) =>
        this.#addFault(document.entry ?? name, document, error),
    };
  }

  *#end(file: TraceFile): Generator<ImportedSample[], void> {
    yield* inBatches(this.#samplesOf(file, file.end()));
    this.#close(file);
  }

  #close(file: TraceFile): void {
    file.close();
    for (const id of this.#ownIds.values()) this.#takenIds.add(id);
    this.#ownIds.clear();
    this.#warnings.push(...file.warnings());
    if (file.told === undefined) return;
    const { layout, why } = file.told;
    this.#known += 1;
    this.#formats.add(layout.format);
    if (this.#files.length === maxListed) return;
    this.#files.push({
      file: file.name ?? null,
      format: layout.format,
      recognised_by: why,
      reader_version: layout.version,
    });
  }

  *#samplesOf(
    file: TraceFile,
    recorded: Iterable<[Recorded, TraceDocument]>,
  ): Generator<ImportedSample, void> {
    for (const [one, document] of recorded) {
      const { place, entry } = document;
      try {
        for (const sample of "trace" in one
          ? this.#samplesOfTrace(file, one.trace, place)
          : this.#asTold(file, "sample" in one ? [one.sample] : this.#underOwnId(one.conversation))) {
          const placed = inItsSplit(sample, this.#options.split, this.#salt);
          this.#count(placed);
          yield { sample: placed, place, file: entry ?? file.name };
        }
      } catch (error) {
        if (!(error instanceof LineError)) throw error;
        this.#addFault(entry ?? file.name, document, error);
      }
    }
  }

  /** Samples made by their layout; unchanged if the layout is verbatim, unless redaction is asked for. */
  *#asTold(file: TraceFile, samples: readonly ReadSample[]): Generator<ReadSample, void> {
    const isVerbatim = file.told?.layout.isVerbatim === true;
    if (!isVerbatim) checkLimits(samples);
    const isKept = isVerbatim && this.#options.redaction === undefined;
    for (const sample of samples) yield isKept ? sample : this.#texts.cleanValue(sample);
  }

  /** A conversation, numbered if an earlier file has its id. If the same file or the appended-to revision has it, storing refuses it. */
  #underOwnId(samples: readonly ReadSample[]): readonly ReadSample[] {
    const id = samples[0]?.trajectory_id ?? "";
    const isAnothers = this.#takenIds.has(id) && !this.#earlierIds.has(id);
    const own = this.#ownIds.get(id) ?? (isAnothers ? this.#newId(id) : id);
    this.#ownIds.set(id, own);
    return own === id ? samples : samples.map((sample) => ({ ...sample, trajectory_id: own }));
  }

  #samplesOfTrace(file: TraceFile, trace: Trace, [, number]: TraceDocument["place"]): ReadSample[] {
    const texts = this.#texts;
    for (const turn of trace.turns)
      if (turn.by === "agent")
        for (const { name } of turn.calls ?? [])
          if (this.#tools.size < maxListed) this.#tools.add(texts.again(name));
    const idIn = (told = "") => idOf(texts.clean(told));
    const trajectory_id = this.#newId(idIn(trace.id) || idIn(file.source) || `line-${number}`);
    const source = file.told?.layout.format ?? "";
    const samples = samplesOfTrace(trace, { trajectory_id, source }, { ...this.#options, maxSteps }, texts);
    checkLimits(samples);
    return samples;
  }

  /** The id, numbered if another trajectory already has it. */
  #newId(id: string): string {
    let unique = id;
    let number = this.#repeated.get(id) ?? 1;
    for (; this.#takenIds.has(unique); unique = idOf(`${id}/${number}`)) number += 1;
    if (number > 1) this.#repeated.set(id, number);
    this.#takenIds.add(unique);
    return unique;
  }

  #count(sample: ReadSample): void {
    this.#samples += 1;
    if (sample.at) this.#with.time += 1;
    if (sample.usage) this.#with.usage += 1;
    if (typeof sample.reward === "number") this.#with.reward += 1;
    if (sample.done === true) this.#with.done += 1;
  }

  #addFault(
    file: string | undefined,
    { place: [unit, number], path = [] }: Pick<TraceDocument, "place" | "path">,
    error: LineError,
  ): void {
    this.#faulty += 1;
    if (this.#faults.length === maxListed) return;
    this.#faults.push({ line: number, unit, path: [...path, ...error.path], reason: error.message, file });
  }
}

const isNotJson = /^The (line|document) is not (JSON|UTF-8)$/;
const maxNamed = 10;

function passedOver(unknown: readonly UnrecognisedError[]): string {
  const named = unknown.slice(0, maxNamed).map(({ faults: [fault] }) => fault?.file ?? "");
  return `Left out, of no known format: ${andMore(named, unknown.length)}.`;
}

function* inBatches<Item>(items: Iterable<Item>): Generator<Item[], void> {
  let batch: Item[] = [];
  for (const item of items) {
    if (batch.push(item) < batchSamples) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** A fault as responses list it. */
export function toImportFault({ line, unit = "line", path, reason, file }: UploadFault) {
  const loc = ["body", ...(line === undefined ? [] : [unit, line]), ...path];
  return { loc, msg: reason, ...(file === undefined ? {} : { file }) };
}
