import { EvaluationResult } from "@presage/contract";
import { type StoredResult, toCurrentResult, toEvaluationResult } from "../result.ts";

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
  return name === "jsonl" ? jsonl : await csv();
}

/** Current names only: a table needs no column twice. */
const columns = Object.entries(EvaluationResult.shape)
  .filter(([, field]) => field.meta()?.deprecated !== true)
  .map(([name]) => name);

/** Most servers never write CSV: the first export loads the library. */
async function csv(): Promise<ExportFormat> {
  const { stringify } = await import("csv-stringify/sync");
  const toCsv = (records: unknown[][]) =>
    stringify(records, {
      cast: { boolean: String },
      // Spreadsheets run a text that starts like a formula, and these texts come from models and their users.
      escape_formulas: true,
    });
  return {
    contentType: "text/csv; charset=utf-8; header=present",
    head: toCsv([columns]),
    toLines: (results) =>
      toCsv(
        results.map((result) => {
          const values = new Map(Object.entries(toCurrentResult(result)));
          return columns.map((column) => values.get(column));
        }),
      ),
  };
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
