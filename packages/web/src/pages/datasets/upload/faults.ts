import { type ImportPreview, PresageError } from "@presage/sdk";

/** What is wrong with a line or a document of an upload. */
export interface Fault {
  /** If the upload has several files. */
  file: string | undefined;
  unit: "line" | "document";
  /** Counted from 1. */
  number: number;
  /** For example `next_state`; empty if the whole is meant. */
  field: string;
  reason: string;
}

interface Faults {
  faults: Fault[];
  /** With those that are not listed. */
  total: number;
}

/** The faults that a preview lists. */
export function previewFaults({ faults, skipped }: ImportPreview): Faults {
  return { faults: faults.flatMap((fault) => toFault(fault) ?? []), total: skipped };
}

/** The faults that an upload was refused for; none if it is about something else. */
export function faultsOf(error: unknown): Faults {
  if (!(error instanceof PresageError)) return { faults: [], total: 0 };
  const faults = error.issues.flatMap(({ loc, msg, ctx }) => {
    const file = typeof ctx?.file === "string" ? { file: ctx.file } : {};
    return toFault({ loc, msg: msg.replace(/^Value error, /, ""), ...file }) ?? [];
  });
  return { faults, total: Number(error.issues[0]?.ctx?.faults ?? faults.length) };
}

function toFault({ loc, msg, file }: ImportPreview["faults"][number]): Fault | undefined {
  const [body, unit, number, ...path] = loc;
  if (body !== "body" || (unit !== "line" && unit !== "document") || typeof number !== "number")
    return undefined;
  return { file, unit, number, field: path.join("."), reason: msg };
}

/** What each format needs, of a refusal because none fits; undefined of any other error. */
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

/** The beginnings of lines of a file, by their numbers. None if they are packed otherwise than with gzip, or cannot be read. */
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
    // What was read before is shown.
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
