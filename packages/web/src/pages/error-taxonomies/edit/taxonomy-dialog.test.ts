import { expect, test } from "bun:test";
import { countLeaves } from "../tree/tree-nodes.ts";
import { taxonomyTemplates } from "./taxonomy-dialog.tsx";
import { readOutline } from "./tree-draft.ts";

test("Every template is a tree of described kinds that one judge can tell apart", () => {
  for (const { outline } of taxonomyTemplates) {
    const { nodes, issues } = readOutline(outline);
    expect(issues).toEqual([]);
    expect(countLeaves(nodes)).toBeGreaterThanOrEqual(8);
    expect(countLeaves(nodes)).toBeLessThanOrEqual(12);
    for (const { children } of nodes) {
      expect(children.length).toBeGreaterThan(0);
      for (const { description } of children) expect(description).toMatch(/\.$/);
    }
  }
});
