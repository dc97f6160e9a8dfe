import { scanJson } from "../../platform/limits/scan-json.ts";
import { UploadError } from "../../platform/upload-error.ts";
import { LineError } from "./line-error.ts";
import type { RawLine } from "./split-lines.ts";

/** A shorter line has too few values to matter, so it is not scanned before it is parsed. */
const shortLineBytes = 64 * 1024;

/** Handles a line. A `LineError` becomes an `UploadError` that names the line. */
export function atLine<Result>(line: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof LineError)) throw error;
    throw new UploadError({ line, path: error.path, reason: error.message });
  }
}

/** Returns a function that parses lines; one of white space is undefined. It throws a `LineError`. */
export function createJsonLineReader(): (line: RawLine) => unknown {
  // The decoder skips a byte order mark.
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  return ({ bytes }) => {
    const text = decode(utf8, bytes);
    return text.trim() === "" ? undefined : parse(text, bytes);
  };
}

function decode(utf8: TextDecoder, bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new LineError("The line is not UTF-8");
  }
}

function parse(text: string, bytes: Uint8Array): unknown {
  if (bytes.length > shortLineBytes) {
    const { refusal } = scanJson(bytes);
    if (refusal !== undefined) throw new LineError(`The line's JSON is refused: ${refusal.reason}`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new LineError("The line is not JSON");
  }
}
