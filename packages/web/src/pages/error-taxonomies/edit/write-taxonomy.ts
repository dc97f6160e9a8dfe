import type { TaxonomyNode } from "@presage/contract/read-taxonomy";

type Body = Record<string, unknown>;

/** The body of a tree, in the format of the built-in taxonomies. */
export function writeTaxonomy(nodes: readonly TaxonomyNode[]): Body {
  return { [keyOf(nodes)]: nodes.map(writeNode) };
}

function writeNode({ name, description, children }: TaxonomyNode): Body {
  return {
    name,
    ...(description !== "" && { description }),
    ...(children.length > 0 && { [keyOf(children)]: children.map(writeNode) }),
  };
}

function keyOf(nodes: readonly TaxonomyNode[]): string {
  if (nodes.every(({ children }) => children.length === 0)) return "errors";
  return nodes.every(({ children }) => children.length > 0) ? "categories" : "children";
}
