import { createHash } from "node:crypto";
import type { DatasetFormat, DatasetImport, ImportPreviewQuery } from "@presage/contract";
import { InvalidRequestError, valueError } from "../../http/validate.ts";
import { UploadError, type UploadFault } from "../../platform/errors.ts";
import type { ReadSample } from "../formats.ts";
import { LineError } from "../upload/lines.ts";
import { LeftOut, TraceTexts } from "./content.ts";
import type { Found } from "./documents.ts";
import type { Recorded, TraceDocument } from "./layout.ts";
import { createRedactor, type Redaction } from "./redact.ts";
import { type RedactRules, readRedactRules } from "./redact-rules.ts";
import { TraceFile } from "./trace-file.ts";
import { maxTagCharacters, type Step, type StepOptions, stepsOf, type Trace } from "./turns.ts";

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
}

/** What a request says of an import. Throws an `InvalidRequestError` if its rules are not valid. */
export function readImport(query: ImportPreviewQuery) {
  const { format, source, assistant_is, step, keep, score, redact, redact_rules, on_fault } = query;
  // Rules may hold secrets, and whoever reads the dataset sees its options.
  const rules_digest = redact_rules && `sha256:${digestOf(redact_rules)}`;
  const given = { format, assistant_is, step, keep, score, redact, redact_rules: rules_digest, on_fault };
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
    } satisfies ImportOptions,
  };
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

/** A sample, and where it stands in its file. */
export interface ImportedSample {
  sample: ReadSample;
  place: TraceDocument["place"];
}

/** What an import has read. */
export interface ImportFigures extends Omit<DatasetImport, "options"> {
  samples: number;
  trajectories: number;
  tools: string[];
  with: { time: number; usage: number; reward: number; done: number };
}

const maxSteps = 10_000;
const maxTextCharacters = 4 * 1024 * 1024;
const maxListed = 100;
const maxTrajectoryIdCharacters = 180;

/** Reads the files of one import, one after the other. */
export class TraceImport {
  readonly #options: ImportOptions;
  readonly #redacting: TraceTexts;
  readonly #verbatim: TraceTexts;
  readonly #takenIds: Set<string>;
  readonly #faults: UploadFault[] = [];
  readonly #files: DatasetImport["files"] = [];
  readonly #formats = new Set<DatasetFormat>();
  readonly #tools = new Set<string>();
  readonly #warnings: string[] = [];
  readonly #with = { time: 0, usage: 0, reward: 0, done: 0 };
  #lastTrajectory: string | undefined;
  #trajectories = 0;
  #samples = 0;
  #documents = 0;
  #faulty = 0;

  /** `taken` are the ids of the trajectories that are there already. */
  constructor(options: ImportOptions, taken: Iterable<string> = []) {
    this.#options = options;
    const { redaction, rules } = options;
    this.#redacting = new TraceTexts(createRedactor(redaction ?? "default", rules));
    this.#verbatim = redaction === undefined ? new TraceTexts(createRedactor("none")) : this.#redacting;
    this.#takenIds = new Set(taken);
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
            const { place, reason, path } = one.fault;
            this.#addFault(name, place, new LineError(reason, path));
            continue;
          }
          const { document } = one;
          if (file !== undefined && document.entry !== entry && !file.joins(document)) {
            samples.push(...this.#samplesOf(file, file.end()));
            this.#close(file);
            file = undefined;
          }
          entry = document.entry;
          file ??= new TraceFile(entry ?? name, this.#fileOptions(entry ?? name));
          samples.push(...this.#samplesOf(file, file.add(document)));
        }
        if (samples.length > 0) yield samples;
      }
      const last = file === undefined ? [] : [...this.#samplesOf(file, file.end())];
      if (last.length > 0) yield last;
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
      trajectories: this.#trajectories,
      samples: this.#samples,
      tools: [...this.#tools],
      with: { ...this.#with },
      left_out: this.#redacting.leftOut.counts(),
      redacted: this.#redacting.redacted(),
      repaired: this.#redacting.repaired(),
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
      leftOut: this.#redacting.leftOut,
      onFault: (place: TraceDocument["place"], error: LineError) => this.#addFault(name, place, error),
    };
  }

  #close(file: TraceFile): void {
    file.close();
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
    for (const [one, { place }] of recorded) {
      try {
        for (const sample of "sample" in one
          ? this.#asTold(file, one.sample)
          : this.#samplesOfTrace(file, one.trace, place)) {
          this.#count(sample);
          yield { sample, place };
        }
      } catch (error) {
        if (!(error instanceof LineError)) throw error;
        this.#addFault(file.name, place, error);
      }
    }
  }

  /** A sample that its layout made; with secrets only if its texts are stored as they are. */
  *#asTold(file: TraceFile, sample: ReadSample): Generator<ReadSample, void> {
    const texts = file.told?.layout.isVerbatim ? this.#verbatim : this.#redacting;
    yield texts.cleanValue(sample);
  }

  *#samplesOfTrace(
    file: TraceFile,
    trace: Trace,
    [, number]: TraceDocument["place"],
  ): Generator<ReadSample, void> {
    const texts = this.#redacting;
    const steps = stepsOf(trace, this.#options, texts);
    if (steps.length > maxSteps) throw new LineError(`The trajectory has more than ${maxSteps} steps`);
    const context = contextOf(trace, texts);
    const trajectory_id = this.#newId(texts.clean(trace.id ?? file.source ?? `line-${number}`));
    const tags = texts.cleanValue({ ...trace.tags, source: file.told?.layout.format });
    for (const turn of trace.turns)
      if (turn.by === "agent")
        for (const { name } of turn.calls ?? []) if (this.#tools.size < maxListed) this.#tools.add(name);
    for (const [step, made] of steps.entries()) {
      const texts = [made.state, made.action, made.next];
      if (texts.some(({ length }) => length > maxTextCharacters))
        throw new LineError(`A text of step ${step} is longer than ${maxTextCharacters} characters`);
      yield toSample(made, { trajectory_id, step, context, tags });
    }
  }

  /** The id, cut if it is long, and numbered if there is another trajectory of this id. */
  #newId(id: string): string {
    const cut =
      id.length <= maxTrajectoryIdCharacters ? id : `${id.slice(0, 140)}${digestOf(id).slice(0, 16)}`;
    let unique = cut;
    for (let number = 2; this.#takenIds.has(unique); number += 1) unique = `${cut}/${number}`;
    this.#takenIds.add(unique);
    return unique;
  }

  #count(sample: ReadSample): void {
    this.#samples += 1;
    if (sample.trajectory_id !== this.#lastTrajectory) this.#trajectories += 1;
    this.#lastTrajectory = sample.trajectory_id;
    if (sample.at) this.#with.time += 1;
    if (sample.usage) this.#with.usage += 1;
    if (typeof sample.reward === "number") this.#with.reward += 1;
    if (sample.done === true) this.#with.done += 1;
  }

  #addFault(
    file: string | undefined,
    [unit, number]: TraceDocument["place"],
    { message, path }: LineError,
  ): void {
    this.#faulty += 1;
    if (this.#faults.length === maxListed) return;
    this.#faults.push({ line: number, unit, path, reason: message, file });
  }
}

function contextOf(trace: Trace, texts: TraceTexts): ReadSample["context"] {
  // What it has of media is counted where it is said.
  const said = trace.turns.flatMap((turn) =>
    turn.by === "environment" ? [texts.of(turn.content, new LeftOut())] : [],
  );
  const task = trace.task ?? said.find((text) => text !== "");
  const system = trace.turns.flatMap((turn) => (turn.by === "system" ? [texts.of(turn.content)] : []));
  const context = {
    task_context: task === undefined ? undefined : texts.clean(task),
    tool_schemas: toolsText(trace.tools, texts),
    domain_knowledge: system.filter((text) => text !== "").join("\n\n") || undefined,
  };
  return Object.values(context).every((text) => text === undefined) ? undefined : context;
}

function toolsText(tools: unknown, texts: TraceTexts): string | undefined {
  if (tools === undefined || tools === null || (Array.isArray(tools) && tools.length === 0)) return undefined;
  return typeof tools === "string" ? texts.clean(tools) : JSON.stringify(texts.cleanValue(tools));
}

function toSample(
  { state, action, next, reward, done, at, usage, isError, model, thought }: Step,
  {
    tags,
    ...place
  }: Pick<ReadSample, "trajectory_id" | "step" | "context"> & {
    tags: Record<string, string | undefined>;
  },
): ReadSample {
  const all = { ...tags, model: model ?? tags.model, error: isError ? "true" : undefined, thought };
  return {
    ...place,
    interaction: { state, action },
    next_state: next,
    reward,
    done,
    at,
    usage,
    tags: Object.fromEntries(
      Object.entries(all).flatMap(([name, text]) =>
        text ? [[name, text.slice(0, maxTagCharacters).toWellFormed().replaceAll("\0", "")]] : [],
      ),
    ),
  };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function toImportFault({ line, unit = "line", path, reason, file }: UploadFault) {
  const loc = ["body", ...(line === undefined ? [] : [unit, line]), ...path];
  return { loc, msg: reason, ...(file === undefined ? {} : { file }) };
}
