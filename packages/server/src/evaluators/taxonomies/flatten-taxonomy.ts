import { readTaxonomy, type TaxonomyNode } from "@presage/contract/read-taxonomy";

/** A kind of error: a leaf of a taxonomy's tree. */
export interface TaxonomyLeaf {
  /** The names from the root down, its own the last. */
  path: string[];
  description?: string;
}

/** The first `maxLeaves` leaves of a body's tree. */
export function flattenTaxonomy(body: unknown, maxLeaves: number): TaxonomyLeaf[] {
  return [...leavesOf(readTaxonomy(body), []).take(maxLeaves)];
}

function* leavesOf(nodes: readonly TaxonomyNode[], above: readonly string[]): Generator<TaxonomyLeaf> {
  for (const { name, description, children } of nodes) {
    const path = [...above, name];
    if (children.length > 0) yield* leavesOf(children, path);
    else yield { path, ...(description !== "" && { description }) };
  }
}
