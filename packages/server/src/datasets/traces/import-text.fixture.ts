import { readParts } from "./documents/documents.ts";
import { type ImportedSample, TraceImport } from "./import.ts";
import type { ImportOptions } from "./import-options.ts";

const defaults: ImportOptions = {
  format: undefined,
  assistantIs: undefined,
  score: undefined,
  redaction: undefined,
  skipsFaults: false,
  step: "call",
  keepsThoughts: false,
  split: undefined,
};

/** The samples and figures that an import of one file produces. Refuses the file as an upload would. */
export async function importText(
  file: string | Uint8Array,
  { name, ...options }: Partial<ImportOptions> & { name?: string } = {},
): Promise<{
  samples: ImportedSample["sample"][];
  figures: ReturnType<TraceImport["figures"]>;
  warnings: string[] | undefined;
}> {
  const traces = new TraceImport({ ...defaults, ...options }, "dataset");
  const samples: ImportedSample["sample"][] = [];
  const body = (async function* () {
    yield typeof file === "string" ? new TextEncoder().encode(file) : file;
  })();
  for await (const read of traces.read(name, readParts(body, { maxBytes: 1e9 })))
    samples.push(...read.map(({ sample }) => sample));
  traces.check();
  return { samples, figures: traces.figures(), warnings: traces.warnings() };
}
