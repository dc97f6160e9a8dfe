import { expect, test } from "bun:test";
import { otherFields, readTaxonomy, type TaxonomyNode } from "./read-taxonomy.ts";

function node(name: string, children: TaxonomyNode[] = [], description = ""): TaxonomyNode {
  return { name, description, children };
}

const tree = [node("tone", [node("rude", [], "Hurts."), node("too long")], "How it sounds.")];

function depthOf(nodes: readonly TaxonomyNode[]): number {
  return nodes.reduce((depth, { children }) => Math.max(depth, 1 + depthOf(children)), 0);
}

test("every form that authors use gives the same tree", () => {
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

test("fields that are not part of the tree are named once", () => {
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

test("fields that describe the tree are not categories", () => {
  const body = { description: "All", version: 3, plan: { order: "Wrong\n order.", gap: null } };
  expect(readTaxonomy(body)).toEqual([node("plan", [node("order", [], "Wrong order."), node("gap")])]);
});

test("a list may hold names, nodes and lists", () => {
  expect(readTaxonomy(["a", { title: "b", children: [{ label: "c" }] }, ["d", 7, null], ""])).toEqual([
    node("a"),
    node("b", [node("c")]),
    node("d"),
  ]);
});

test("a value that is not a tree has no nodes", () => {
  for (const body of [{}, [], [[]], { name: "" }, { categories: 7 }, { count: 7 }, null, "text"]) {
    expect(readTaxonomy(body)).toEqual([]);
  }
});

test("a tree of ten thousand levels is read to the depth limit", () => {
  let named: unknown = "leaf";
  let bare: unknown = "leaf";
  for (let level = 0; level < 10_000; level += 1) {
    named = { name: "n", children: [named] };
    bare = [bare];
  }
  expect(depthOf(readTaxonomy([named]))).toBeLessThanOrEqual(20);
  expect(readTaxonomy(bare)).toEqual([]);
  expect(otherFields([named])).toEqual([]);
});
