import { createHash } from "node:crypto";
import type { DatasetFormat, DatasetImport, ImportPreview, ImportPreviewQuery } from "@presage/contract";
import { InvalidRequestError, valueError } from "../../http/validate.ts";
import { UploadError, type UploadFault } from "../../platform/errors.ts";
import { createCanonicaliser, lineOf, type ReadSample } from "../formats.ts";
import { gunzip, LineError } from "../upload/lines.ts";
import { idOf, TraceTexts } from "./content.ts";
import { type Found, filesOf, type Reading, readDocuments } from "./documents/documents.ts";
import type { Recorded, TraceDocument } from "./layout.ts";
import { layouts } from "./layouts.ts";
import { createRedactor, type Redaction, type RedactRules, readRedactRules } from "./redaction/redact.ts";
import { checkLimits, maxSteps, samplesOfTrace, TraceFile } from "./trace-file.ts";
import type { StepOptions, Trace } from "./turns.ts";

export interface ImportOptions extends StepOptions {
  /** Undefined: each file's contents tell. */
  format: DatasetFormat | undefined;
  assistantIs: "agent" | "environment" | undefined;
  /** The name of the score that is the reward. */
  score: string | undefined;
  /** Undefined: by the layout. */
  redaction: Redaction | undefined;
  /** What else is to be redacted. */
  rules?: RedactRules;
  skipsFaults: boolean;
  split: Split | undefined;
}

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

/** A sample, and where it stands in its file. */
export interface ImportedSample {
  sample: ReadSample;
  place: TraceDocument["place"];
  file: string | undefined;
}

/** What an import has read. */
interface ImportFigures extends Omit<DatasetImport, "options"> {
  samples: number;
  tools: string[];
  with: { time: number; usage: number; reward: number; done: number };
}

/** Which share of the groups of samples is for what. The others train. */
interface Split {
  /** `trajectory`, `task` or `tag:NAME`. */
  by: string;
  test: number;
  calibration: number;
}

const defaultTest = 0.2;
/** Of what a file gives at its end, which may be all that it has. */
const batchSamples = 20;
const maxListed = 100;
/** How much of an upload is read, decompressed. */
const previewBytes = 64 * 1024 * 1024;
const firstSamples = 3;

/** What a request says of an import. Throws an `InvalidRequestError` if its rules are not valid. */
export function readImport(query: ImportPreviewQuery) {
  const { source, ...given } = query;
  const { format, assistant_is, step, keep, score, redact, redact_rules, on_fault } = query;
  // Rules may hold secrets, and whoever reads the dataset sees its options.
  if (redact_rules) given.redact_rules = `sha256:${createHash("sha256").update(redact_rules).digest("hex")}`;
  return {
    source,
    given: Object.fromEntries(Object.entries(given).flatMap(([name, text]) => (text ? [[name, text]] : []))),
    options: {
      format: format === "auto" ? undefined : format,
      assistantIs: assistant_is,
      score,
      ...(redact_rules === undefined
        ? { redaction: redact }
        : { redaction: redact ?? "default", rules: readRules(redact_rules, redact) }),
      skipsFaults: on_fault === "skip",
      step: step ?? "call",
      keepsThoughts: keep === "thoughts",
      split: readSplit(query),
    } satisfies ImportOptions,
  };
}

/** Undefined if no split is asked for. */
function readSplit({ split_by, test, calibration }: ImportPreviewQuery): Split | undefined {
  const given = test === undefined ? "calibration" : "test";
  if (split_by === undefined) {
    if (test === undefined && calibration === undefined) return undefined;
    throw new InvalidRequestError([valueError(["query", given], "It needs `split_by`")]);
  }
  const split = { by: split_by, test: Number(test ?? defaultTest), calibration: Number(calibration ?? 0) };
  if (split.test + split.calibration <= 1) return split;
  throw new InvalidRequestError([valueError(["query", given], "The shares are more than 1 together")]);
}

function readRules(text: string, redact: Redaction | undefined): RedactRules {
  try {
    if (redact === "none") throw new Error("with redact=none nothing is redacted; leave one of them out");
    return readRedactRules(text);
  } catch (error) {
    throw new InvalidRequestError([valueError(["query", "redact_rules"], (error as Error).message)]);
  }
}

/** Of uploads whose lines Presage has written itself. */
export const ownLines = {
  ...readImport({ format: "presage" }),
  given: {},
  contentType: undefined,
  isGzip: false,
};

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

/** Reads the files of one import, one after the other. */
export class TraceImport {
  readonly #options: ImportOptions;
  readonly #texts: TraceTexts;
  readonly #takenIds = new Set<string>();
  /** Those that were there before. */
  readonly #earlierIds = new Set<string>();
  /** The ids of the conversations of the file that is being read, by the ids that it gives them. */
  readonly #ownIds = new Map<string, string>();
  /** The last number of each id that occurred again: lines without ids all have their file's. */
  readonly #repeated = new Map<string, number>();
  readonly #salt: string;
  readonly #faults: UploadFault[] = [];
  readonly #files: DatasetImport["files"] = [];
  readonly #formats = new Set<DatasetFormat>();
  readonly #tools = new Set<string>();
  readonly #warnings: string[] = [];
  readonly #with = { time: 0, usage: 0, reward: 0, done: 0 };
  #samples = 0;
  #documents = 0;
  #faulty = 0;

  /** `salt` makes a dataset's splits its own. */
  constructor(options: ImportOptions, salt = "") {
    this.#options = options;
    this.#salt = salt;
    const { redaction, rules } = options;
    this.#texts = new TraceTexts(createRedactor(redaction ?? "default", rules));
  }

  /** Follows a line that is there already. */
  follow(line: string, { trajectory_id }: ReadSample): void {
    this.#earlierIds.add(trajectory_id);
    this.#takenIds.add(trajectory_id);
    this.#texts.keepNumbers(line);
  }

  /** The samples of a file, in their order. What cannot be read is a fault, which `check` reports. */
  async *read(
    name: string | undefined,
    documents: AsyncIterable<readonly Found[]>,
  ): AsyncGenerator<ImportedSample[], void> {
    let file: TraceFile | undefined;
    let entry: string | undefined;
    try {
      for await (const found of documents) {
        const samples: ImportedSample[] = [];
        for (const one of found) {
          this.#documents += 1;
          if ("fault" in one) {
            const { place, reason, path, entry } = one.fault;
            this.#addFault(entry ?? name, { place }, new LineError(reason, path));
            continue;
          }
          const { document } = one;
          if (file !== undefined && document.entry !== entry && !file.joins(document)) {
            if (samples.length > 0) yield samples.splice(0);
            yield* inBatches(this.#samplesOf(file, file.end()));
            this.#close(file);
            file = undefined;
          }
          entry = document.entry;
          file ??= new TraceFile(name, entry, this.#fileOptions(name));
          samples.push(...this.#samplesOf(file, file.add(document)));
        }
        if (samples.length > 0) yield samples;
      }
      if (file !== undefined) yield* inBatches(this.#samplesOf(file, file.end()));
    } finally {
      if (file !== undefined) this.#close(file);
    }
  }

  /** Throws an `UploadError` with the faults if they are not to be skipped, or are too many. */
  check(): void {
    if (this.#faulty === 0) return;
    if (this.#options.skipsFaults && this.#faulty * 2 <= this.#documents) return;
    throw new UploadError(this.#faults, this.#faulty);
  }

  /** Whether nothing more is to be stored. */
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

  #close(file: TraceFile): void {
    file.close();
    for (const id of this.#ownIds.values()) this.#takenIds.add(id);
    this.#ownIds.clear();
    this.#warnings.push(...file.warnings());
    if (file.told === undefined) return;
    const { layout, why } = file.told;
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
          this.#count(sample);
          yield { sample: this.#inItsSplit(sample), place, file: entry ?? file.name };
        }
      } catch (error) {
        if (!(error instanceof LineError)) throw error;
        this.#addFault(entry ?? file.name, document, error);
      }
    }
  }

  /** Samples that their layout made; as they are if its layout's samples are, unless redaction is asked for. */
  *#asTold(file: TraceFile, samples: readonly ReadSample[]): Generator<ReadSample, void> {
    const isVerbatim = file.told?.layout.isVerbatim === true && this.#options.redaction === undefined;
    for (const sample of samples) yield isVerbatim ? sample : this.#texts.cleanValue(sample);
  }

  /** A conversation, numbered if a file before this one has its id. In one file, or appended, the id is refused when it is stored. */
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

  /** The id, numbered if there is another trajectory of this id. */
  #newId(id: string): string {
    let unique = id;
    let number = this.#repeated.get(id) ?? 1;
    for (; this.#takenIds.has(unique); unique = idOf(`${id}/${number}`)) number += 1;
    if (number > 1) this.#repeated.set(id, number);
    this.#takenIds.add(unique);
    return unique;
  }

  #inItsSplit(sample: ReadSample): ReadSample {
    const { split } = this.#options;
    if (split === undefined) return sample;
    return { ...sample, tags: { ...sample.tags, split: splitOf(sample, split, this.#salt) } };
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

/** A sample's side: by a hash of its group's name, so that a later upload keeps it. */
function splitOf(sample: ReadSample, { by, test, calibration }: Split, salt: string): string {
  const named = by.startsWith("tag:") ? sample.tags?.[by.slice("tag:".length)] : undefined;
  const task = by === "task" ? (sample.tags?.task ?? sample.context?.task_context) : undefined;
  const group = named ?? task ?? sample.trajectory_id;
  const hash = createHash("sha256").update(`${salt}\n${group}`).digest();
  const place = hash.readUInt32BE() / 2 ** 32;
  if (place < test) return "test";
  return place < test + calibration ? "calibration" : "train";
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

/** A fault as answers list it. */
export function toImportFault({ line, unit = "line", path, reason, file }: UploadFault) {
  const loc = ["body", ...(line === undefined ? [] : [unit, line]), ...path];
  return { loc, msg: reason, ...(file === undefined ? {} : { file }) };
}
