import { EvaluationResult } from "@presage/contract";
import { stringify } from "csv-stringify/sync";
import type { KeptResult } from "../evaluation/results/evaluation-record.ts";
import { toCurrentResult, toEvaluationResult } from "./evaluation-result.ts";

/** A way to write results one after the other. */
export interface ExportFormat {
  contentType: string;
  head: string;
  toLines(results: readonly KeptResult[]): string;
}

/** Today's names only: a table needs no column twice. */
const columns = Object.entries(EvaluationResult.shape)
  .filter(([, field]) => field.meta()?.deprecated !== true)
  .map(([name]) => name);

export const exportFormats: Readonly<Record<"jsonl" | "csv", ExportFormat>> = {
  jsonl: {
    contentType: "application/x-ndjson; charset=utf-8",
    head: "",
    toLines: (results) => results.map((result) => `${JSON.stringify(toEvaluationResult(result))}\n`).join(""),
  },
  csv: {
    contentType: "text/csv; charset=utf-8; header=present",
    head: toCsv([columns]),
    toLines: (results) =>
      toCsv(
        results.map((result) => {
          const values = new Map(Object.entries(toCurrentResult(result)));
          return columns.map((column) => values.get(column));
        }),
      ),
  },
};

function toCsv(records: unknown[][]): string {
  return stringify(records, {
    cast: { boolean: String },
    // Spreadsheets run what begins like a formula, and the texts are those of models and their users.
    escape_formulas: true,
  });
}
