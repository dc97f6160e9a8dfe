import type { StoredResult } from "../../../evaluation/results/record/evaluation-record.ts";
import type { ExportFormat } from "./export-format.ts";

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
