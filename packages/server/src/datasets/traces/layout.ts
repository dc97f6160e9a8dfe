import type { DatasetFormat, ImportFormat } from "@presage/contract";
import { type ReadSample, readChatTrajectory } from "../formats.ts";
import { LineError } from "../upload/lines.ts";
import { isObject, type LeftOut } from "./content.ts";
import type { Trace } from "./turns.ts";

/** One JSON value of a file. */
export interface TraceDocument {
  value: unknown;
  /** The position that faults name, from 1. */
  place: ["line" | "document", number];
  /** The length of its JSON. */
  bytes: number;
  /** For an element of a known inner array: the array's name and the fields around it; in a long file, only those before it. */
  within?: string;
  envelope?: Record<string, unknown>;
  /** For an element of a line's inner array: its path in the line. */
  path?: (string | number)[];
  /** For a document in a zip: its entry. */
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

/** Reads the documents of one file, one after another. Throws a `LineError` for a document that it cannot use. */
export interface TraceReader {
  read(document: TraceDocument): Iterable<Recorded>;
  /** What several documents form together. */
  end?(): Iterable<Recorded>;
  /** What was skipped, in sentences. */
  warnings?(): string[] | undefined;
  /** Releases resources, whether or not the file was read to its end. */
  close?(): void;
}

/** A layout of recorded traces. */
export interface Layout {
  format: DatasetFormat;
  /** Increases when the layout's result for the same file changes. */
  version: number;
  /** How the table of layouts describes this one. */
  about: Omit<ImportFormat, "format">;
  /** What shows that a document is of this layout; undefined if nothing does. */
  recognises(document: TraceDocument): string | undefined;
  /** Whether a file of this layout may contain a document. By default only if the document is recognised. */
  admits?(document: TraceDocument): boolean;
  /** Who the assistant is unless the upload says so, for layouts whose contents do not show it. */
  assistantIs?: "agent" | "environment";
  /** Whether the files of a zip are one file in parts. */
  joinsEntries?: boolean;
  /** Whether its samples are stored unchanged: without redaction unless asked for, and under their own ids. */
  isVerbatim?: boolean;
  open(options: ReadOptions): TraceReader;
}

/** A reader of documents that contain finished samples. */
export function eachSample(read: (value: unknown, line: number) => Iterable<ReadSample>): Layout["open"] {
  return eachDocument(function* ({ value, place: [, number] }) {
    for (const sample of read(value, number)) yield { sample };
  });
}

/** A reader of conversations whose assistant is the environment. */
export const asEnvironment = eachDocument(function* ({ value, place: [, number] }) {
  yield { conversation: [...readChatTrajectory(value, number)] };
});

/** A reader of documents that are independent of each other. */
export function eachDocument(
  read: (document: TraceDocument, options: ReadOptions) => Iterable<Recorded>,
): Layout["open"] {
  return (options) => ({ read: (document) => read(document, options) });
}

/** How much JSON is held for what several documents form together. */
export const maxHeldBytes = 256 * 1024 * 1024;

export const tooLong = (what: string) => new LineError(`${what} is longer than ${maxHeldBytes} bytes`);

/** Where a field is in a document, as faults name it. */
export type Path = readonly (string | number)[];

/** An object in a document, and its place. */
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

/** The objects of a required list. */
export function objectsIn({ value, path }: At, name: string): At[] {
  const list = value[name];
  if (list === undefined || list === null) throw new LineError("Field required", [...path, name]);
  if (!Array.isArray(list)) throw new LineError("Input should be a list", [...path, name]);
  return list.map((one, index) => objectAt(one, [...path, name, index]));
}

/** The objects of an optional list. */
export function optionalObjectsIn(at: At, name: string): At[] {
  return at.value[name] === undefined || at.value[name] === null ? [] : objectsIn(at, name);
}

/** A required text. */
export function requiredText({ value, path }: At, name: string): string {
  const text = value[name];
  if (typeof text === "string" && text !== "") return text;
  const isMissing = text === undefined || text === null;
  throw new LineError(isMissing ? "Field required" : "Input should be a text", [...path, name]);
}
