import { expect, test } from "bun:test";
import type { TaxonomyNode } from "@presage/contract/read-taxonomy";
import { readOutline, writeOutline } from "./tree-draft.ts";

function node(name: string, children: TaxonomyNode[] = [], description = ""): TaxonomyNode {
  return { name, description, children };
}

const tree = [
  node(
    "effects",
    [node("effect missing", [], "A change is not there."), node("wrong target")],
    "What the action does.",
  ),
  node("format: JSON", [node("ends in a colon:")]),
];

const outline = [
  "effects: What the action does.",
  "  effect missing: A change is not there.",
  "  wrong target",
  "format\\: JSON",
  "  ends in a colon\\:",
].join("\n");

test("a tree round-trips through an outline with one line per node", () => {
  expect(writeOutline(tree)).toBe(outline);
  expect(readOutline(outline)).toEqual({ nodes: tree, issues: [] });
});

test("any indentation works, tabs too, and empty lines are ignored", () => {
  const { nodes, issues } = readOutline("one\n\n\ttwo\n\t\tthree\n\nfour\n      five");
  expect(issues).toEqual([]);
  expect(nodes).toEqual([node("one", [node("two", [node("three")])]), node("four", [node("five")])]);
});

test("a line between two levels is an issue", () => {
  expect(readOutline("one\n    two\n  three").issues).toEqual([
    { line: 3, text: "does not line up with any line above it" },
  ]);
});

test("the first line may not be indented", () => {
  expect(readOutline("  one").issues).toHaveLength(1);
});

test("a name must be unique within its category only", () => {
  const { issues } = readOutline("one\n  same\n  same\ntwo\n  same");
  expect(issues).toEqual([{ line: 3, text: "repeats “same” in the same category" }]);
});

test("a description without a name is an issue", () => {
  expect(readOutline(": only a description").issues).toEqual([{ line: 1, text: "has no name" }]);
});
