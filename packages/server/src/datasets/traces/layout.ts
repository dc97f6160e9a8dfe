import type { DatasetFormat } from "@presage/contract";
import { type ReadSample, readChatTrajectory } from "../formats.ts";
import type { LeftOut } from "./content.ts";
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

/** What a file is read with. */
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
  about: LayoutTexts;
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

/** How the table of layouts describes it. */
export interface LayoutTexts {
  title: string;
  recognisedBy: string;
  trajectory: string;
  action: string;
  answer: string;
  context: string;
  also: string;
  leftOut: string;
  /** A small file. */
  example: string;
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
