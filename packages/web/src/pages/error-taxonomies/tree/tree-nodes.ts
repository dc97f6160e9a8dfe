import type { TaxonomyNode } from "@presage/contract/read-taxonomy";
import type { ErrorTaxonomyFinding, RecentErrorFindingsResponse } from "@presage/sdk";

/** The names from the root to a node. */
export type NodePath = readonly string[];

export function pathKey(path: NodePath): string {
  return JSON.stringify(path);
}

interface PlacedNode {
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

/** How often a kind of error, or all kinds of a category together, were found. */
export type CountFindings = (path: NodePath, node: TaxonomyNode) => number;

export function countFindings(findings: readonly ErrorTaxonomyFinding[]): CountFindings {
  const counts = new Map(findings.map(({ path, count }) => [pathKey(path), count]));
  return function count(path, { children }): number {
    if (children.length === 0) return counts.get(pathKey(path)) ?? 0;
    return children.reduce((sum, child) => sum + count([...path, child.name], child), 0);
  };
}

/** The key of the path of the most frequent kind; undefined if none was found. */
export function mostFrequentKind(found: RecentErrorFindingsResponse | undefined): string | undefined {
  const counts = new Map<string, number>();
  for (const { findings } of found?.models ?? []) {
    for (const { path, count } of findings)
      counts.set(pathKey(path), (counts.get(pathKey(path)) ?? 0) + count);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

export interface TaxonomyChange {
  kind: "added" | "removed" | "described";
  path: NodePath;
  /** The description before and after; empty if there is none. */
  before: string;
  after: string;
}

/** The nodes that were added, removed or given a different description. */
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
