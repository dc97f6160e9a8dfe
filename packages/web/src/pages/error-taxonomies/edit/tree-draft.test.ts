import { expect, test } from "bun:test";
import { otherFields, readTaxonomy, type TaxonomyNode } from "@presage/contract/read-taxonomy";
import { draftOfBody, readOutline, readTree, switchSide, writeOutline, writeTaxonomy } from "./tree-draft.ts";

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

const tone = [node("tone", [node("rude", [], "Hurts."), node("too long")], "How it sounds.")];

test("a written tree is read back unchanged", () => {
  const body = writeTaxonomy(tone);
  expect(Object.keys(body)).toEqual(["categories"]);
  expect(readTaxonomy(body)).toEqual(tone);
  expect(otherFields(body)).toEqual([]);
});

test("kinds and categories may be siblings", () => {
  const mixed = [...tone, node("empty")];
  expect(readTaxonomy(writeTaxonomy(mixed))).toEqual(mixed);
});

const plain = { errors: [{ name: "rude", description: "Hurts." }] };
const rich = { version: 2, errors: [{ name: "rude", severity: 3 }] };

test("a body of names and descriptions starts as an outline, unchanged", () => {
  const draft = draftOfBody(plain);
  expect(draft.side).toBe("outline");
  expect(draft.outline).toBe("rude: Hurts.");
  expect(readTree(draft).body).toEqual(plain);
});

test("a body with other fields starts as JSON, unchanged", () => {
  const draft = draftOfBody(rich);
  expect(draft.side).toBe("json");
  expect(readTree(draft).body).toEqual(rich);
});

test("switching to the outline and back loses nothing", () => {
  const draft = draftOfBody(rich);
  const outlined = { ...draft, ...switchSide(draft, "outline") };
  const back = { ...outlined, ...switchSide(outlined, "json") };
  expect(readTree(back).body).toEqual(rich);
});

test("changes in the outline appear in the JSON", () => {
  const draft = { ...draftOfBody(plain), outline: "rude: Hurts.\ncold" };
  const switched = { ...draft, ...switchSide(draft, "json") };
  expect(readTree(switched).body).toEqual({
    errors: [{ name: "rude", description: "Hurts." }, { name: "cold" }],
  });
});

test("invalid text cannot be switched, and is reported", () => {
  const brokenJson = { ...draftOfBody(plain), side: "json", json: "{" };
  expect(switchSide(brokenJson, "outline")).toEqual({});
  expect(readTree(brokenJson)).toMatchObject({
    body: undefined,
    issues: [expect.stringContaining("Invalid JSON")],
  });
  const brokenOutline = { ...draftOfBody(plain), outline: "one\none" };
  expect(switchSide(brokenOutline, "json")).toEqual({});
  expect(readTree(brokenOutline).issues).toEqual(["Line 2 repeats “one” in the same category."]);
});

test("too many kinds of error are an issue", () => {
  const outline = Array.from({ length: 501 }, (_, index) => `kind ${index}`).join("\n");
  expect(readTree({ outline, json: "{}", side: "outline" }).issues).toHaveLength(1);
});
