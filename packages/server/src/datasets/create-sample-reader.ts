import type { DatasetFormat } from "@presage/contract";
import { countRepeatedIndexes } from "./predictions.ts";
import { formatOf, type ReadSample, readers } from "./reader.ts";
import { atLine, createJsonLineReader } from "./upload/read-json-line.ts";
import type { RawLine } from "./upload/split-lines.ts";

/** Reads the samples of one line after the other. Throws an `UploadError` that names the line. */
export function createSampleReader(format: DatasetFormat | undefined) {
  const readJson = createJsonLineReader();
  const indexes = countRepeatedIndexes();
  let chosen = format;
  return {
    read: (line: RawLine): ReadSample[] =>
      atLine(line.number, () => {
        const value = readJson(line);
        if (value === undefined) return [];
        chosen ??= formatOf(value);
        const samples = [...readers[chosen](value, line.number)];
        if (chosen !== "predictions") return samples;
        return samples.filter(({ dataset_sample_id: id }) => !indexes.isRepeated(id ?? line.number));
      }),
    warnings: indexes.warnings,
  };
}
