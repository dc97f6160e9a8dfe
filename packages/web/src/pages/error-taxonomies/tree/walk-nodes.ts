import type { TaxonomyNode } from "@presage/contract/read-taxonomy";

/** A node's name with those of all that it lies in, the root's first. */
export type NodePath = readonly string[];

export function pathKey(path: NodePath): string {
  return JSON.stringify(path);
}

export interface PlacedNode {
  path: NodePath;
  node: TaxonomyNode;
}

/** Every node with its path, each before what lies in it. */
export function walkNodes(nodes: readonly TaxonomyNode[], above: NodePath = []): PlacedNode[] {
  return nodes.flatMap((node) => {
    const path = [...above, node.name];
    return [{ path, node }, ...walkNodes(node.children, path)];
  });
}

export function countLeaves(nodes: readonly TaxonomyNode[]): number {
  return nodes.reduce((sum, { children }) => sum + (children.length === 0 ? 1 : countLeaves(children)), 0);
}
