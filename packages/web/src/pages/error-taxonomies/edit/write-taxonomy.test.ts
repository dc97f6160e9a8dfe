import { expect, test } from "bun:test";
import { otherFields, readTaxonomy, type TaxonomyNode } from "@presage/contract/read-taxonomy";
import { writeTaxonomy } from "./tree-draft.ts";

function node(name: string, children: TaxonomyNode[] = [], description = ""): TaxonomyNode {
  return { name, description, children };
}

const tree = [node("tone", [node("rude", [], "Hurts."), node("too long")], "How it sounds.")];

test("a written tree is read back unchanged", () => {
  const body = writeTaxonomy(tree);
  expect(Object.keys(body)).toEqual(["categories"]);
  expect(readTaxonomy(body)).toEqual(tree);
  expect(otherFields(body)).toEqual([]);
});

test("kinds and categories may be siblings", () => {
  const mixed = [...tree, node("empty")];
  expect(readTaxonomy(writeTaxonomy(mixed))).toEqual(mixed);
});
