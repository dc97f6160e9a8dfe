import { EvaluationResult } from "@presage/contract";
import { stringify } from "csv-stringify/sync";
import { toCurrentResult } from "../result.ts";
import type { ExportFormat } from "./export.ts";

/** Current names only: a table needs no column twice. */
const columns = Object.entries(EvaluationResult.shape)
  .filter(([, field]) => field.meta()?.deprecated !== true)
  .map(([name]) => name);

export const csv: ExportFormat = {
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

function toCsv(records: unknown[][]): string {
  return stringify(records, {
    cast: { boolean: String },
    // Spreadsheets run a text that starts like a formula, and these texts come from models and their users.
    escape_formulas: true,
  });
}
