import type { DatasetFormat, ImportFormat } from "@presage/contract";
import { type ReadSample, readChatTrajectory } from "../formats.ts";
import { LineError } from "../upload/lines.ts";
import { isObject, type LeftOut } from "./content.ts";
import type { Trace } from "./turns.ts";

/** One JSON value of a file. */
export interface TraceDocument {
  value: unknown;
  /** Where it stands, as faults name it. From 1. */
  place: ["line" | "document", number];
  /** Of its JSON. */
  bytes: number;
  /** Of an element of a known inner array: the array's name, and the fields around it; of a long file, those before it. */
  within?: string;
  envelope?: Record<string, unknown>;
  /** Of an element of a line's inner array: where in the line. */
  path?: (string | number)[];
  /** Of a zip: the entry that it stands in. */
  entry?: string;
}

export interface ReadOptions {
  /** The file's name without its extension. */
  source: string | undefined;
  assistantIs: "agent" | "environment" | undefined;
  /** The name of the score that is the reward. */
  score: string | undefined;
  leftOut: LeftOut;
}

/** A trajectory that becomes samples, a sample as it is, or all samples of a conversation. */
export type Recorded = { trace: Trace } | { sample: ReadSample } | { conversation: readonly ReadSample[] };

/** Reads the documents of one file, one after the other. A document that it cannot use is a `LineError`. */
export interface TraceReader {
  read(document: TraceDocument): Iterable<Recorded>;
  /** What several documents make together. */
  end?(): Iterable<Recorded>;
  /** What was passed over, in sentences. */
  warnings?(): string[] | undefined;
  /** Releases what it holds, whether or not it was read to its end. */
  close?(): void;
}

/** A layout of recorded traces. */
export interface Layout {
  format: DatasetFormat;
  /** Counts the changes of what it makes of a file. */
  version: number;
  /** How the table of layouts describes it. */
  about: Omit<ImportFormat, "format">;
  /** What tells that a document is of this layout; undefined if nothing does. */
  recognises(document: TraceDocument): string | undefined;
  /** Whether a document may stand in a file of this layout. By default only if it is recognised. */
  admits?(document: TraceDocument): boolean;
  /** Who the assistant of its conversations is unless the upload says it, where the contents do not show it. */
  assistantIs?: "agent" | "environment";
  /** Whether the files of a zip are one file in parts. */
  joinsEntries?: boolean;
  /** Whether its samples are stored as they are: without redaction unless asked for, under the ids that they have. */
  isVerbatim?: boolean;
  open(options: ReadOptions): TraceReader;
}

/** A reader of documents that have samples as they are. */
export function eachSample(read: (value: unknown, line: number) => Iterable<ReadSample>): Layout["open"] {
  return eachDocument(function* ({ value, place: [, number] }) {
    for (const sample of read(value, number)) yield { sample };
  });
}

/** A reader of conversations whose assistant is the environment. */
export const asEnvironment = eachDocument(function* ({ value, place: [, number] }) {
  yield { conversation: [...readChatTrajectory(value, number)] };
});

/** A reader of documents that each stand by themselves. */
export function eachDocument(
  read: (document: TraceDocument, options: ReadOptions) => Iterable<Recorded>,
): Layout["open"] {
  return (options) => ({ read: (document) => read(document, options) });
}

/** How much JSON is held of what several documents make together. */
export const maxHeldBytes = 256 * 1024 * 1024;

export const tooLong = (what: string) => new LineError(`${what} is longer than ${maxHeldBytes} bytes`);

/** Where a field stands in a document, as faults name it. */
export type Path = readonly (string | number)[];

/** An object in a document, and where. */
export interface At {
  value: Record<string, unknown>;
  path: Path;
}

/** A document's value, which must be an object. */
export function objectAt(value: unknown, path: Path = []): At {
  if (!isObject(value))
    throw new LineError(value === undefined ? "Field required" : "Input should be an object", path);
  return { value, path };
}

/** The objects of a list, which must be there. */
export function objectsIn({ value, path }: At, name: string): At[] {
  const list = value[name];
  if (list === undefined || list === null) throw new LineError("Field required", [...path, name]);
  if (!Array.isArray(list)) throw new LineError("Input should be a list", [...path, name]);
  return list.map((one, index) => objectAt(one, [...path, name, index]));
}

/** The objects of a list, which may be missing. */
export function optionalObjectsIn(at: At, name: string): At[] {
  return at.value[name] === undefined || at.value[name] === null ? [] : objectsIn(at, name);
}

/** A text that must be there. */
export function requiredText({ value, path }: At, name: string): string {
  const text = value[name];
  if (typeof text === "string" && text !== "") return text;
  const isMissing = text === undefined || text === null;
  throw new LineError(isMissing ? "Field required" : "Input should be a text", [...path, name]);
}
