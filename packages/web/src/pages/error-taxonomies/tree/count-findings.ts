import type { TaxonomyNode } from "@presage/contract/read-taxonomy";
import type { ErrorTaxonomyFinding } from "@presage/sdk";
import { type NodePath, pathKey } from "./walk-nodes.ts";

/** How often a kind of error was found, or all kinds of a category together. */
export type CountFindings = (path: NodePath, node: TaxonomyNode) => number;

export function countFindings(findings: readonly ErrorTaxonomyFinding[]): CountFindings {
  const counts = new Map(findings.map(({ path, count }) => [pathKey(path), count]));
  return function count(path, { children }): number {
    if (children.length === 0) return counts.get(pathKey(path)) ?? 0;
    return children.reduce((sum, child) => sum + count([...path, child.name], child), 0);
  };
}
