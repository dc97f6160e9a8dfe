import type { DatasetFormat } from "@presage/contract";
import { scanJson } from "../../../limits/scan-json.ts";
import { LineError } from "../readers/line-error.ts";
import { formatOf, type ReadSample, readers } from "../readers/reader.ts";
import type { RawLine } from "./split-lines.ts";
import { UploadError } from "./upload-error.ts";

/** A shorter line has too few values to matter, so it is not scanned before it is parsed. */
const shortLineBytes = 64 * 1024;

/** Returns the samples of one line after the other. Throws an `UploadError` that names the line. */
export function createSampleReader(
  format: DatasetFormat | undefined,
): (line: RawLine) => Generator<ReadSample, void> {
  // The decoder skips a byte order mark.
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let chosen = format;
  return function* read({ number, bytes }) {
    try {
      const text = decode(utf8, bytes);
      if (text.trim() === "") return;
      const value = parse(text, bytes);
      chosen ??= formatOf(value);
      yield* readers[chosen](value, number);
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      throw new UploadError({ line: number, path: error.path, reason: error.message });
    }
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
