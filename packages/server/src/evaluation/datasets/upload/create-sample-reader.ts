import type { DatasetFormat } from "@presage/contract";
import { formatOf, type ReadSample, readers } from "../readers/reader.ts";
import { atLine, createJsonLineReader } from "./read-json-line.ts";
import type { RawLine } from "./split-lines.ts";

/** Returns the samples of one line after the other. Throws an `UploadError` that names the line. */
export function createSampleReader(format: DatasetFormat | undefined): (line: RawLine) => ReadSample[] {
  const readJson = createJsonLineReader();
  let chosen = format;
  return (line) =>
    atLine(line.number, () => {
      const value = readJson(line);
      if (value === undefined) return [];
      chosen ??= formatOf(value);
      return [...readers[chosen](value, line.number)];
    });
}
