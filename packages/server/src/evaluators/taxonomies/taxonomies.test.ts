import { expect, test } from "bun:test";
import { flattenTaxonomy } from "./taxonomies.ts";

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

test("a body that is not a tree has no leaves", () => {
  expect(flattenTaxonomy({}, 1000)).toEqual([]);
});

test("it stops at the given number of leaves", () => {
  expect(
    flattenTaxonomy(
      Array.from({ length: 100_000 }, (_, index) => `e${index}`),
      3,
    ),
  ).toHaveLength(3);
});
