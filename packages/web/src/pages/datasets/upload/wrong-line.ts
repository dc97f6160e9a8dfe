import { PresageError } from "@presage/sdk";

/** The line that an upload was refused for. */
interface WrongLine {
  /** Counted from 1. */
  line: number;
  /** For example `next_state`; empty if the whole line is meant. */
  field: string;
  reason: string;
}

/** The line that the error of an upload names; undefined if it is about something else. */
export function readWrongLine(error: unknown): WrongLine | undefined {
  if (!(error instanceof PresageError)) return undefined;
  for (const { loc, msg } of error.issues) {
    const [body, kind, line, ...path] = loc;
    if (body !== "body" || kind !== "line" || typeof line !== "number") continue;
    return { line, field: path.join("."), reason: msg.replace(/^Value error, /, "") };
  }
  return undefined;
}

const maxCharacters = 2_000;

const gzipMarks = [0x1f, 0x8b];

/** The beginning of a line of a file, which is read no further than that. Undefined if the file cannot be read. */
export async function readLineOf(file: File, wanted: number): Promise<string | undefined> {
  let line = 1;
  let text = "";
  try {
    for await (const chunk of await textOf(file)) {
      let from = 0;
      for (let end = chunk.indexOf("\n"); line < wanted && end !== -1; end = chunk.indexOf("\n", from)) {
        line += 1;
        from = end + 1;
      }
      if (line < wanted) continue;
      const end = chunk.indexOf("\n", from);
      text += chunk.slice(from, end === -1 ? undefined : end);
      if (end !== -1 || text.length >= maxCharacters) break;
    }
  } catch {
    return undefined;
  }
  return text === "" ? undefined : text.slice(0, maxCharacters);
}

async function textOf(file: File): Promise<ReadableStream<string>> {
  const marks = new Uint8Array(await file.slice(0, gzipMarks.length).arrayBuffer());
  const isGzip = gzipMarks.every((mark, index) => marks[index] === mark);
  const bytes = isGzip ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  return bytes.pipeThrough(new TextDecoderStream());
}
