import { expect, test } from "bun:test";
import { otherFields, readTaxonomy } from "./read-taxonomy.ts";
import type { TaxonomyNode } from "./taxonomy-node.ts";
import { writeTaxonomy } from "./write-taxonomy.ts";

function node(name: string, children: TaxonomyNode[] = [], description = ""): TaxonomyNode {
  return { name, description, children };
}

const tree = [node("tone", [node("rude", [], "Hurts."), node("too long")], "How it sounds.")];

test("the same tree is read from every form that authors write", () => {
  const forms = [
    {
      categories: [
        {
          name: "tone",
          description: "How it sounds.",
          errors: [{ name: "rude", description: "Hurts." }, "too long"],
        },
      ],
    },
    [
      {
        title: "tone",
        description: "How it sounds.",
        children: [{ label: "rude", description: "Hurts." }, "too long"],
      },
    ],
    { tone: { description: "How it sounds.", rude: "Hurts.", "too long": {} } },
  ];
  for (const form of forms) expect(readTaxonomy(form)).toEqual(tree);
});

test("a tree that was written is read back", () => {
  const body = writeTaxonomy(tree);
  expect(Object.keys(body)).toEqual(["categories"]);
  expect(readTaxonomy(body)).toEqual(tree);
  expect(otherFields(body)).toEqual([]);
});

test("kinds and categories may stand side by side", () => {
  const mixed = [...tree, node("empty")];
  expect(readTaxonomy(writeTaxonomy(mixed))).toEqual(mixed);
});

test("what the tree does not hold is named, once", () => {
  const body = {
    version: 2,
    categories: [
      {
        id: "c1",
        name: "tone",
        errors: [
          { name: "rude", severity: 3 },
          { name: "long", severity: 1 },
        ],
      },
    ],
  };
  expect(otherFields(body)).toEqual(["version", "id", "severity"]);
  expect(otherFields({ tone: { rude: "Hurts." } })).toEqual([]);
});

test("what is no tree has no nodes", () => {
  expect(readTaxonomy({})).toEqual([]);
  expect(readTaxonomy("text")).toEqual([]);
});
