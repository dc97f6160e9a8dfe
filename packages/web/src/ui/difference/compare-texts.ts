import { findJson } from "../untrusted-text/find-json.ts";
import { jsonLines } from "../untrusted-text/json-lines.ts";
import { compareLines, type DifferenceRow } from "./compare-lines.ts";

export type Difference =
  | { kind: "equal" }
  | { kind: "too-large" }
  /** `paths` has the JSON path of each row. */
  | { kind: "rows"; rows: DifferenceRow[]; paths?: string[] };

export function compareAsText(before: string, after: string): Difference {
  if (before === after) return { kind: "equal" };
  return toDifference(compareLines(linesOf(before), linesOf(after)));
}

/** Ignores formatting, the order of keys and the notation of numbers. Undefined unless both are JSON. */
export function compareAsJson(before: string, after: string): Difference | undefined {
  const [one, other] = [findJson(before), findJson(after)];
  if (one === undefined || other === undefined) return undefined;
  const [oneLines, otherLines] = [jsonLines(one, true), jsonLines(other, true)];
  const texts = [oneLines, otherLines].map((lines) => lines.map(({ text }) => text));
  const rows = compareLines(texts[0] ?? [], texts[1] ?? [], isSameButComma);
  if (rows?.every(({ kind }) => kind === "equal")) return { kind: "equal" };
  const paths = rows?.map((row) => {
    if (row.kind === "equal") return otherLines[row.after - 1]?.path ?? "";
    const line =
      row.after === undefined ? oneLines[(row.before?.line ?? 0) - 1] : otherLines[row.after.line - 1];
    return line?.path ?? "";
  });
  const difference = toDifference(rows);
  return difference.kind === "rows" && paths ? { ...difference, paths } : difference;
}

function toDifference(rows: DifferenceRow[] | undefined): Difference {
  return rows === undefined ? { kind: "too-large" } : { kind: "rows", rows };
}

function linesOf(text: string): string[] {
  return text.split("\n");
}

/** A trailing comma is not a difference. */
function isSameButComma(one: string, other: string): boolean {
  if (one.length === other.length) return one === other;
  return one.length > other.length ? one === `${other},` : other === `${one},`;
}
