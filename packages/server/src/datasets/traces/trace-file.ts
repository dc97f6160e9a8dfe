import type { DatasetFormat } from "@presage/contract";
import { type ReadSample, readOwnLine } from "../formats.ts";
import { LineError } from "../upload/lines.ts";
import { isObject, type TraceTexts, tagOf } from "./content.ts";
import type { Layout, ReadOptions, Recorded, TraceDocument, TraceReader } from "./layout.ts";
import { findLayout, layouts, UnrecognisedError } from "./layouts.ts";
import { type Step, type StepOptions, stepsOf, type Trace } from "./turns.ts";

export const maxSteps = 10_000;
const maxTextBytes = 4 * 1024 * 1024;
const isTooLong = (text: string) => text.length > maxTextBytes / 3 && Buffer.byteLength(text) > maxTextBytes;

/** The samples of a trajectory. `source` is its layout. Throws a `LineError` rather than make more than `options.maxSteps`. */
export function samplesOfTrace(
  trace: Trace,
  { trajectory_id, source }: { trajectory_id: string; source: string },
  options: StepOptions & { maxSteps?: number },
  texts: TraceTexts,
): ReadSample[] {
  const steps = stepsOf(trace, options, texts);
  checkSteps(steps, options.maxSteps);
  const context = contextOf(trace, texts);
  const tags = texts.cleanValue({ ...trace.tags, source });
  return steps.flatMap((made, step) => {
    const model = made.model && texts.ofMany("model", made.model);
    const sample = toSample({ ...made, model }, { trajectory_id, step, context, tags });
    const stated = trace.stated?.[step];
    if (stated === undefined || stated === null) return sample;
    return [...readOwnLine({ ...sample, ...texts.cleanValue(stated), trajectory_id })];
  });
}

function checkSteps({ length }: { length: number }, most = Number.POSITIVE_INFINITY): void {
  if (length > most) throw new LineError(`The trajectory has more than ${most} steps`);
}

/** Throws a `LineError` if a trajectory has more samples, or longer ones, than an import accepts. */
export function checkLimits(samples: readonly ReadSample[]): void {
  checkSteps(samples, maxSteps);
  for (const { step, context, interaction, messages, next_state } of samples) {
    if (Object.values(context ?? {}).some((text) => isTooLong(text ?? "")))
      throw new LineError(`A text of its context is longer than ${maxTextBytes} bytes`);
    const said = (messages ?? []).map(({ content }) => content);
    if ([interaction?.state ?? "", interaction?.action ?? "", next_state, ...said].some(isTooLong))
      throw new LineError(`A text of step ${step} is longer than ${maxTextBytes} bytes`);
  }
}

function contextOf(trace: Trace, texts: TraceTexts): ReadSample["context"] {
  const task = trace.task ?? firstSaid(trace, texts);
  const system = trace.turns.flatMap((turn) =>
    turn.by === "system" ? [texts.ofMany("system", turn.content)] : [],
  );
  const context = {
    task_context: task === undefined ? undefined : texts.clean(task),
    tool_schemas: toolsText(trace.tools, texts),
    domain_knowledge: system.filter((text) => text !== "").join("\n\n") || undefined,
  };
  return Object.values(context).every((text) => text === undefined) ? undefined : context;
}

function firstSaid({ turns }: Trace, texts: TraceTexts): string | undefined {
  let aside: string | undefined;
  for (const turn of turns) {
    const said = turn.by === "environment" ? texts.again(turn.content) : "";
    if (said === "") continue;
    if (turn.by === "environment" && turn.isAside !== true) return said;
    aside ??= said;
  }
  return aside;
}

function toolsText(tools: unknown, texts: TraceTexts): string | undefined {
  if (tools === undefined || tools === null || (Array.isArray(tools) && tools.length === 0)) return undefined;
  return typeof tools === "string" ? texts.clean(tools) : texts.jsonOfMany("tools", tools);
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
      Object.entries(all).flatMap(([name, text]) => (text ? [[name, tagOf(text)]] : [])),
    ),
  };
}

/** A file's name without folders and without the extensions for its packing and its format. */
export function sourceOf(name: string): string {
  return name
    .replace(/^.*[/\\]/, "")
    .replace(/(?<=.)\.(gz|zst|zip)$/i, "")
    .replace(/(?<=.)\.[a-z]\w{0,9}$/i, "");
}

/** How much is held back until a file's layout is known. */
const heldDocuments = 100;
const heldBytes = 8 * 1024 * 1024;

interface FileOptions extends Omit<ReadOptions, "source"> {
  /** The format that was asked for. */
  format: DatasetFormat | undefined;
  onFault(document: TraceDocument, error: LineError): void;
}

/** A record and its document; for records that are complete only at the end of the file, the file's first document. */
type Read = [Recorded, TraceDocument];

/** Reads the documents of one file, holding them back until they show its layout. */
export class TraceFile {
  readonly #name: string | undefined;
  readonly #options: FileOptions;
  readonly entry: string | undefined;
  #held: TraceDocument[] = [];
  #heldBytes = 0;
  /** The file's layout, once it is known. */
  told: { layout: Layout; why: string } | undefined;
  #reader: TraceReader | undefined;
  #first: TraceDocument | undefined;

  /** `entry` is the file's name in a zip. */
  constructor(name: string | undefined, entry: string | undefined, options: FileOptions) {
    this.#name = name;
    this.entry = entry;
    this.#options = options;
  }

  /** The zip's name if its entries form one file. */
  get name(): string | undefined {
    return this.told?.layout.joinsEntries === true ? this.#name : (this.entry ?? this.#name);
  }

  get source(): string | undefined {
    return this.name === undefined ? undefined : sourceOf(this.name);
  }

  /** Whether the entries of a zip may form this file together. */
  joinsEntries(): boolean {
    return this.#layout()?.joinsEntries === true;
  }

  /** Whether a document of another zip entry belongs to this file. */
  joins(document: TraceDocument): boolean {
    const layout = this.#layout();
    return layout?.joinsEntries === true && admits(layout, document);
  }

  #layout(): Layout | undefined {
    const { format } = this.#options;
    return format === undefined ? (this.told ?? recognise(this.#held))?.layout : findLayout(format);
  }

  *add(document: TraceDocument): Generator<Read, void> {
    if (this.#reader !== undefined) {
      yield* this.#read(this.#reader, document);
      return;
    }
    this.#held.push(document);
    this.#heldBytes += document.bytes;
    if (this.#held.length >= heldDocuments || this.#heldBytes >= heldBytes) yield* this.#open();
  }

  *end(): Generator<Read, void> {
    if (this.#reader === undefined && this.#held.length > 0) yield* this.#open();
    const first = this.#first;
    const reader = this.#reader;
    if (reader?.end === undefined || first === undefined) return;
    yield* this.#guard(first, () => reader.end?.() ?? []);
  }

  close(): void {
    this.#reader?.close?.();
  }

  warnings(): string[] {
    return this.#reader?.warnings?.() ?? [];
  }

  *#open(): Generator<Read, void> {
    const held = this.#held;
    this.#held = [];
    const { format, assistantIs } = this.#options;
    const told =
      format === undefined ? recognise(held) : { layout: findLayout(format), why: "the name that was given" };
    if (told === undefined) throw new UnrecognisedError(held, this.name);
    const { layout, why } = told;
    const who = layout.assistantIs && (assistantIs ?? layout.assistantIs);
    this.told = { layout, why: who ? `${why}; the assistant is the ${who}` : why };
    const reader = layout.open({ ...this.#options, source: this.source });
    this.#reader = reader;
    for (const document of held) yield* this.#read(reader, document);
  }

  *#read(reader: TraceReader, document: TraceDocument): Generator<Read, void> {
    this.#first ??= { ...document, value: undefined };
    yield* this.#guard(document, () => reader.read(document));
  }

  *#guard(document: TraceDocument, read: () => Iterable<Recorded>): Generator<Read, void> {
    try {
      for (const one of read()) yield [one, document];
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      this.#options.onFault(document, this.#explain(document, error));
    }
  }

  /** For a document that looks like another layout than its file's, the fault says which format to ask for. */
  #explain(document: TraceDocument, error: LineError): LineError {
    const layout = this.told?.layout;
    const other = layouts.find((one) => one.recognises(document) !== undefined && admits(one, document));
    if (layout === undefined || other === undefined || other === layout) return error;
    // The layout reads documents that it admits, unless an earlier layout would have been recognised.
    if (admits(layout, document) && layouts.indexOf(layout) < layouts.indexOf(other)) return error;
    const before = `, and the file before it like ${layout.format}: name the format, if one fits both`;
    const isNamed = this.#options.format !== undefined;
    const reason = `${error.message}. It looks like ${other.format}${isNamed ? `, not ${layout.format}` : before}`;
    return new LineError(reason, error.path);
  }
}

/** Of the layouts that recognise one of the documents, the first of those that admit the most documents. */
function recognise(documents: readonly TraceDocument[]): { layout: Layout; why: string } | undefined {
  const told = layouts.flatMap((layout) => {
    const why = firstReason(layout, documents);
    if (why === undefined) return [];
    return [{ layout, why, admitted: documents.filter((document) => admits(layout, document)).length }];
  });
  const most = Math.max(...told.map(({ admitted }) => admitted));
  return told.find(({ admitted }) => admitted === most);
}

function firstReason(layout: Layout, documents: readonly TraceDocument[]): string | undefined {
  for (const document of documents) {
    const why = layout.recognises(document);
    if (why !== undefined) return why;
  }
  return undefined;
}

function admits(layout: Layout, document: TraceDocument): boolean {
  if (!isObject(document.value)) return false;
  return layout.admits?.(document) ?? layout.recognises(document) !== undefined;
}
