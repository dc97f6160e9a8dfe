import type { StoredResult } from "../evaluation-record.ts";
import { toEvaluationResult } from "../evaluation-result.ts";

/** Writes results one after the other. */
export interface ExportFormat {
  contentType: string;
  head: string;
  toLines(results: readonly StoredResult[]): string;
}

const jsonl: ExportFormat = {
  contentType: "application/x-ndjson; charset=utf-8",
  head: "",
  toLines: (results) => results.map((result) => `${JSON.stringify(toEvaluationResult(result))}\n`).join(""),
};

export async function exportFormat(name: "jsonl" | "csv"): Promise<ExportFormat> {
  return name === "jsonl" ? jsonl : (await import("./csv-format.ts")).csv;
}

/** The texts of an export, one for each piece. */
export async function* exportTexts(
  pieces: AsyncIterable<readonly StoredResult[]>,
  { head, toLines }: ExportFormat,
): AsyncGenerator<string, void> {
  let before = head;
  for await (const piece of pieces) {
    yield before + toLines(piece);
    before = "";
  }
  if (before !== "") yield before;
}
