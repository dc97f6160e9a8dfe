import { expect, test } from "bun:test";
import { readOutline } from "../edit/tree-draft.ts";
import { taxonomyChanges } from "./taxonomy-changes.ts";

function changes(before: string, after: string) {
  return taxonomyChanges(readOutline(before).nodes, readOutline(after).nodes);
}

test("added, removed and redescribed nodes are listed by path", () => {
  expect(changes("tone\n  rude: Hurts.\n  long", "tone\n  rude: Insults.\n  cold: Distant.")).toEqual([
    { kind: "described", path: ["tone", "rude"], before: "Hurts.", after: "Insults." },
    { kind: "added", path: ["tone", "cold"], before: "", after: "Distant." },
    { kind: "removed", path: ["tone", "long"], before: "", after: "" },
  ]);
});

test("a different order is not a change", () => {
  expect(changes("a\nb\n  c", "b\n  c\na")).toEqual([]);
});

test("a kind that moves to another category is removed and added", () => {
  expect(changes("a\n  x\nb\n  y", "a\n  y\nb\n  x").map(({ kind }) => kind)).toEqual([
    "added",
    "added",
    "removed",
    "removed",
  ]);
});
