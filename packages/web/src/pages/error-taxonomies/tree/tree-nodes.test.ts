import { expect, test } from "bun:test";
import type { TaxonomyNode } from "@presage/contract/read-taxonomy";
import { countFindings } from "./tree-nodes.ts";

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
