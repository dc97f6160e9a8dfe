import type { TaxonomyNode } from "@presage/contract/read-taxonomy";
import { type NodePath, pathKey, walkNodes } from "../tree/tree-nodes.ts";

export interface TaxonomyChange {
  kind: "added" | "removed" | "described";
  path: NodePath;
  /** Descriptions; empty if there is none. */
  before: string;
  after: string;
}

/** The nodes that were added, removed or given another description. */
export function taxonomyChanges(
  before: readonly TaxonomyNode[],
  after: readonly TaxonomyNode[],
): TaxonomyChange[] {
  const old = descriptions(before);
  const now = descriptions(after);
  const changes: TaxonomyChange[] = [];
  for (const [key, { path, description }] of now) {
    const earlier = old.get(key);
    if (earlier === undefined) changes.push({ kind: "added", path, before: "", after: description });
    else if (earlier.description !== description) {
      changes.push({ kind: "described", path, before: earlier.description, after: description });
    }
  }
  for (const [key, { path, description }] of old) {
    if (!now.has(key)) changes.push({ kind: "removed", path, before: description, after: "" });
  }
  return changes;
}

function descriptions(nodes: readonly TaxonomyNode[]) {
  return new Map(
    walkNodes(nodes).map(({ path, node }) => [pathKey(path), { path, description: node.description }]),
  );
}
