import { expect, test } from "bun:test";
import { flattenTaxonomy } from "./flatten-taxonomy.ts";

const paths = (body: unknown) => flattenTaxonomy(body, 1000).map(({ path }) => path.join("/"));

test("nodes with names and children become paths, with the leaves' own descriptions", () => {
  const body = {
    categories: [
      {
        name: "plan",
        description: "Of plans.",
        errors: [{ name: "order", description: "Wrong\n order." }, "gap"],
      },
      { name: "alone", description: "No children." },
      { name: "empty", errors: [] },
    ],
  };
  expect(flattenTaxonomy(body, 1000)).toEqual([
    { path: ["plan", "order"], description: "Wrong order." },
    { path: ["plan", "gap"] },
    { path: ["alone"], description: "No children." },
    { path: ["empty"] },
  ]);
});

test("categories may be keys", () => {
  const body = {
    description: "All",
    version: 3,
    plan: { order: "Wrong order.", gap: null },
    talk: ["rude", "långsam"],
  };
  expect(paths(body)).toEqual(["plan/order", "plan/gap", "talk/rude", "talk/långsam"]);
  expect(flattenTaxonomy(body, 1)).toEqual([{ path: ["plan", "order"], description: "Wrong order." }]);
});

test("a list may hold names, nodes and lists", () => {
  expect(paths(["a", { title: "b", children: [{ label: "c" }] }, ["d", 7, null], ""])).toEqual([
    "a",
    "b/c",
    "d",
  ]);
});

test("what is no tree has no leaves", () => {
  for (const body of [{}, [], [[]], { name: "" }, { categories: 7 }, { count: 7 }, null, "text"]) {
    expect(paths(body)).toEqual([]);
  }
});

test("a tree of ten thousand levels ends at the depth that is looked at", () => {
  let named: unknown = "leaf";
  let bare: unknown = "leaf";
  for (let level = 0; level < 10_000; level += 1) {
    named = { name: "n", children: [named] };
    bare = [bare];
  }
  expect(flattenTaxonomy([named], 1000)[0]?.path.length).toBeLessThanOrEqual(20);
  expect(paths(bare)).toEqual([]);
});

test("it stops at the number of leaves that is asked for", () => {
  expect(
    flattenTaxonomy(
      Array.from({ length: 100_000 }, (_, index) => `e${index}`),
      3,
    ),
  ).toHaveLength(3);
});
