import { type ImportPreview, PresageError } from "@presage/sdk";
import { plainMessage } from "../../../format/errors.ts";

/** A fault in a line or a document of an upload. */
export interface Fault {
  /** Only if the upload has several files. */
  file: string | undefined;
  unit: "line" | "document";
  /** From 1. */
  number: number;
  /** For example `next_state`; empty for the whole line or document. */
  field: string;
  reason: string;
}

interface Faults {
  faults: Fault[];
  /** Includes faults that are not listed. */
  total: number;
}

/** The faults that a preview lists. */
export function previewFaults({ faults, skipped }: ImportPreview): Faults {
  return { faults: faults.flatMap((fault) => toFault(fault) ?? []), total: skipped };
}

/** The faults because of which an upload was refused; none if there was another reason. */
export function faultsOf(error: unknown): Faults {
  if (!(error instanceof PresageError)) return { faults: [], total: 0 };
  const faults = error.issues.flatMap(({ loc, msg, ctx }) => {
    const file = typeof ctx?.file === "string" ? { file: ctx.file } : {};
    return toFault({ loc, msg: plainMessage(msg), ...file }) ?? [];
  });
  return { faults, total: Number(error.issues[0]?.ctx?.faults ?? faults.length) };
}

function toFault({ loc, msg, file }: ImportPreview["faults"][number]): Fault | undefined {
  const [body, unit, number, ...path] = loc;
  if (body !== "body" || (unit !== "line" && unit !== "document") || typeof number !== "number")
    return undefined;
  return { file, unit, number, field: path.join("."), reason: msg };
}

/** What each format requires, if an upload was refused because no format fits; undefined for any other error. */
export function unrecognised(error: unknown) {
  if (!(error instanceof PresageError)) return undefined;
  const issue = error.issues.find(({ type }) => type === "unrecognised_layout");
  if (issue === undefined) return undefined;
  const formats = issue.ctx?.formats as { format: string; needs: string }[] | undefined;
  return { reason: issue.msg, formats: formats ?? [] };
}

const maxCharacters = 300;
const gzipMarks = [0x1f, 0x8b];
const otherMarks = [
  [0x50, 0x4b],
  [0x28, 0xb5],
];

/** The beginnings of lines of a file, by line number. Empty if the file is compressed other than with gzip, or cannot be read. */
export async function readLinesOf(file: File, wanted: readonly number[]): Promise<Map<number, string>> {
  const texts = new Map<number, string>();
  const last = Math.max(0, ...wanted);
  let line = 1;
  try {
    for await (const chunk of await textOf(file)) {
      for (const [index, piece] of chunk.split("\n").entries()) {
        if (index > 0) line += 1;
        const text = texts.get(line) ?? "";
        if (wanted.includes(line)) texts.set(line, (text + piece).slice(0, maxCharacters));
      }
      if (line > last || (texts.get(last)?.length ?? 0) >= maxCharacters) break;
    }
  } catch {
    // Whatever has been read before the error is shown.
  }
  return texts;
}

async function textOf(file: File): Promise<ReadableStream<string>> {
  const start = new Uint8Array(await file.slice(0, gzipMarks.length).arrayBuffer());
  const startsLike = (marks: readonly number[]) => marks.every((mark, index) => start[index] === mark);
  if (otherMarks.some(startsLike)) throw new Error("Its lines are packed.");
  const bytes = startsLike(gzipMarks)
    ? file.stream().pipeThrough(new DecompressionStream("gzip"))
    : file.stream();
  return bytes.pipeThrough(new TextDecoderStream());
}
