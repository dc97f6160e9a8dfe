// The dashboard bundles this file too, so it imports nothing.
/** A category of a taxonomy, or, if it has no children, a kind of error. */
export interface TaxonomyNode {
  name: string;
  /** Empty if there is none. */
  description: string;
  children: TaxonomyNode[];
}

type JsonObject = Record<string, unknown>;
type NamedValue = [name: string, value: unknown];

/** The most kinds of error that an evaluation accepts: this many fit in one enum on common model servers. */
export const maxKindsOfError = 500;

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
/** The most levels of JSON. Anything deeper is left out, and its branch counts as a kind of error. */
export const maxTaxonomyLevels = 20;
const maxNameCharacters = 200;
const maxDescriptionCharacters = 1_000;

/**
 * Reads the tree of a taxonomy's body in any form that authors use: nodes with a name and children under a common key,
 * lists, bare names, or categories as keys.
 */
export function readTaxonomy(body: unknown): TaxonomyNode[] {
  return nodesIn(body, maxTaxonomyLevels);
}

/** The distinct names of the body's fields that are not part of its tree. */
export function otherFields(body: unknown): string[] {
  return [...new Set(fieldsIn(body, true, maxTaxonomyLevels))];
}

function nodesIn(value: unknown, depthLeft: number): TaxonomyNode[] {
  return childrenOf(value, depthLeft).map(([name, child]) => ({
    name,
    description: oneLine(isJsonObject(child) ? child.description : child, maxDescriptionCharacters),
    children: nodesIn(child, depthLeft - 1),
  }));
}

function childrenOf(value: unknown, depthLeft: number): NamedValue[] {
  if (depthLeft === 0) return [];
  if (Array.isArray(value)) return value.flatMap((item: unknown) => itemsIn(item, depthLeft));
  if (!isJsonObject(value)) return [];
  const isNamed = nameOf(value) !== "";
  return Object.entries(value).flatMap(([key, child]) => {
    if (childKeys.has(key)) return childrenOf(child, depthLeft - 1);
    return isNamed || !isCategoryKey(key, child) ? [] : named(oneLine(key, maxNameCharacters), child);
  });
}

function itemsIn(item: unknown, depthLeft: number): NamedValue[] {
  if (typeof item === "string") return named(oneLine(item, maxNameCharacters), undefined);
  const name = isJsonObject(item) ? nameOf(item) : "";
  return name === "" ? childrenOf(item, depthLeft - 1) : [[name, item]];
}

/** In an object without a name, every key names a category unless it describes the object itself. */
function isCategoryKey(key: string, value: unknown): boolean {
  return !ownKeys.has(key) && typeof value !== "number" && typeof value !== "boolean";
}

function fieldsIn(value: unknown, isRoot: boolean, depthLeft: number): string[] {
  if (depthLeft === 0) return [];
  if (Array.isArray(value)) return value.flatMap((item: unknown) => fieldsIn(item, false, depthLeft - 1));
  if (!isJsonObject(value)) return [];
  const nameKey = nameKeys.find((key) => typeof value[key] === "string");
  return Object.entries(value).flatMap(([key, child]) => {
    if (childKeys.has(key)) return fieldsIn(child, false, depthLeft - 1);
    if (!isRoot && (key === nameKey || key === "description")) return [];
    if (nameKey !== undefined || !isCategoryKey(key, child)) return [key];
    return fieldsIn(child, false, depthLeft - 1);
  });
}

function named(name: string, value: unknown): NamedValue[] {
  return name === "" ? [] : [[name, value]];
}

function nameOf(value: JsonObject): string {
  const name = nameKeys.map((key) => value[key]).find((text) => typeof text === "string");
  return oneLine(name, maxNameCharacters);
}

/** Fits a text on one line of a list. */
function oneLine(text: unknown, maxCharacters: number): string {
  if (typeof text !== "string") return "";
  return text.replace(/\s+/g, " ").trim().slice(0, maxCharacters).toWellFormed();
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
