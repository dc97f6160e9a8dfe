import { expect, test } from "bun:test";
import type { DifferenceRow } from "./compare-texts.ts";
import { displayRows, type Layout } from "./display-rows.ts";

function rowsOf(signs: string): DifferenceRow[] {
  return Array.from(signs, (sign, index): DifferenceRow => {
    const line = { line: index + 1, parts: [] };
    if (sign === "=") return { kind: "equal", before: index + 1, after: index + 1, parts: [] };
    if (sign === "~") return { kind: "changed", before: line, after: line };
    return sign === "-" ? { kind: "changed", before: line } : { kind: "changed", after: line };
  });
}

function shown(signs: string, layout: Layout = "unified", expanded = new Set<number>()): string {
  const signOf = { equal: "=", removed: "-", added: "+", pair: "|", collapsed: "" };
  return displayRows(rowsOf(signs), layout, expanded)
    .map((row) => (row.kind === "collapsed" ? `(${row.count})` : signOf[row.kind]))
    .join("");
}

test("three equal lines stay around each change, and the others are collapsed", () => {
  expect(shown("==========~==========-=====")).toBe("(7)===-+===(4)===-===(2)".replace("(2)", "=="));
});

test("an expanded range shows all its lines", () => {
  expect(shown("==========~", "unified", new Set([0]))).toBe("==========-+");
});

test("unified, removed lines come before added ones; side by side they share rows", () => {
  expect(shown("~~-+")).toBe("---+++");
  expect(shown("~~-+", "side-by-side")).toBe("||||");
});
