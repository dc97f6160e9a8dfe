import { expect, test } from "bun:test";
import type { TaxonomyNode } from "@presage/contract/read-taxonomy";
import { readOutline } from "../edit/tree-draft.ts";
import { countFindings, taxonomyChanges } from "./tree-nodes.ts";

const rude: TaxonomyNode = { name: "rude", description: "", children: [] };
const long: TaxonomyNode = { name: "long", description: "", children: [] };
const tone: TaxonomyNode = { name: "tone", description: "", children: [rude, long] };

const count = countFindings([
  { path: ["tone", "rude"], count: 4, last_found_on: "2026-11-21" },
  { path: ["tone", "long"], count: 3, last_found_on: "2026-11-20" },
]);

test("a kind counts the findings at its full path", () => {
  expect(count(["tone", "rude"], rude)).toBe(4);
  expect(count(["other", "rude"], rude)).toBe(0);
});

test("a category counts the findings of all its kinds", () => {
  expect(count(["tone"], tone)).toBe(7);
});

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
