import type { TaxonomyNode } from "@presage/contract/read-taxonomy";

/** The names from the root to a node. */
export type NodePath = readonly string[];

export function pathKey(path: NodePath): string {
  return JSON.stringify(path);
}

export interface PlacedNode {
  path: NodePath;
  node: TaxonomyNode;
}

/** Every node with its path, parents first. */
export function walkNodes(nodes: readonly TaxonomyNode[], above: NodePath = []): PlacedNode[] {
  return nodes.flatMap((node) => {
    const path = [...above, node.name];
    return [{ path, node }, ...walkNodes(node.children, path)];
  });
}

export function countLeaves(nodes: readonly TaxonomyNode[]): number {
  return nodes.reduce((sum, { children }) => sum + (children.length === 0 ? 1 : countLeaves(children)), 0);
}
