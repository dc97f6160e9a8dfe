/** A kind of error: a leaf of a taxonomy's tree. */
export interface TaxonomyLeaf {
  /** The names from the root down, its own the last. */
  path: string[];
  description?: string;
}

type NamedNode = [name: string, node: unknown];

const childKeys = new Set([
  "categories",
  "subcategories",
  "errors",
  "error_types",
  "types",
  "items",
  "children",
]);
const nameKeys = ["name", "title", "label"];
const ownKeys = new Set([...nameKeys, "description", "id", "version", "metadata"]);
/** What lies deeper is left out; the branch counts as a leaf then. */
const maxDepth = 20;
const maxNameCharacters = 200;
const maxDescriptionCharacters = 1_000;

/**
 * The leaves of a tree in whatever form its author wrote it: nodes with a name and children under a usual key, lists,
 * bare names, or categories as keys. Stops after `maxLeaves`.
 */
export function flattenTaxonomy(body: unknown, maxLeaves: number): TaxonomyLeaf[] {
  return [...leavesBelow(body, [], maxDepth).take(maxLeaves)];
}

function* leavesBelow(node: unknown, path: string[], depthLeft: number): Generator<TaxonomyLeaf> {
  const children = childrenOf(node, depthLeft);
  for (const [name, child] of children) yield* leavesBelow(child, [...path, name], depthLeft - 1);
  if (children.length > 0 || path.length === 0) return;
  const description = oneLine(isObject(node) ? node.description : node, maxDescriptionCharacters);
  yield { path, ...(description === "" ? {} : { description }) };
}

function childrenOf(node: unknown, depthLeft: number): NamedNode[] {
  if (depthLeft === 0) return [];
  if (Array.isArray(node)) return node.flatMap((item: unknown) => itemsIn(item, depthLeft));
  if (!isObject(node)) return [];
  const isNamed = nameOf(node) !== "";
  return Object.entries(node).flatMap(([key, value]) => {
    if (childKeys.has(key)) return childrenOf(value, depthLeft - 1);
    if (isNamed || ownKeys.has(key) || typeof value === "number" || typeof value === "boolean") return [];
    return named(oneLine(key, maxNameCharacters), value);
  });
}

function itemsIn(item: unknown, depthLeft: number): NamedNode[] {
  if (typeof item === "string") return named(oneLine(item, maxNameCharacters), undefined);
  const name = isObject(item) ? nameOf(item) : "";
  return name === "" ? childrenOf(item, depthLeft - 1) : [[name, item]];
}

function named(name: string, node: unknown): NamedNode[] {
  return name === "" ? [] : [[name, node]];
}

function nameOf(node: Record<string, unknown>): string {
  const name = nameKeys.map((key) => node[key]).find((value) => typeof value === "string");
  return oneLine(name, maxNameCharacters);
}

/** As a list of kinds shows it. */
function oneLine(text: unknown, maxCharacters: number): string {
  if (typeof text !== "string") return "";
  return text.replace(/\s+/g, " ").trim().slice(0, maxCharacters).toWellFormed();
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
