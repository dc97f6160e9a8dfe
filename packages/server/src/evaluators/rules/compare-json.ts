import { cutText } from "./cut-text.ts";
import type { IgnoredPaths } from "./ignored-paths.ts";
import { type JsonPath, toJsonPointer } from "./json-path.ts";
import { isContainer, type Json } from "./read-json.ts";

const maxListed = 20;
const maxShownValueLength = 100;

export interface Mismatch {
  /** A JSON pointer. */
  path: string;
  output?: string;
  gold?: string;
}

/** Fields are the leaves of a document: scalars, and empty objects and arrays. */
export interface JsonComparison {
  outputFields: number;
  goldFields: number;
  equalFields: number;
  missing: Mismatches;
  unexpected: Mismatches;
  different: Mismatches;
}

/** Their number, and the first of them. */
export interface Mismatches {
  count: number;
  first: Mismatch[];
}

/** A place, and its value in each document. */
interface Pair {
  path: JsonPath | undefined;
  output: Json | undefined;
  gold: Json | undefined;
  ignored: IgnoredPaths | undefined;
}

/** Compares two documents field by field; in an array the index is the field's name. */
export function compareJson(
  output: Json,
  gold: Json,
  ignored: IgnoredPaths,
  numberTolerance: number,
): JsonComparison {
  const none = (): Mismatches => ({ count: 0, first: [] });
  const comparison: JsonComparison = {
    outputFields: 0,
    goldFields: 0,
    equalFields: 0,
    missing: none(),
    unexpected: none(),
    different: none(),
  };
  // An explicit stack: documents may be nested deeper than the call stack.
  const pairs: Pair[] = ignored.whole ? [] : [{ path: undefined, output, gold, ignored }];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const outputKeys = keysOf(pair.output, pair.ignored);
    const goldKeys = keysOf(pair.gold, pair.ignored);
    if (isLeaf(pair.output, outputKeys) && isLeaf(pair.gold, goldKeys)) {
      countField(comparison, pair, numberTolerance);
    } else if (pair.output !== undefined && pair.gold !== undefined && !sameKind(pair.output, pair.gold)) {
      pairs.push({ ...pair, gold: undefined }, { ...pair, output: undefined });
    } else if (isLeaf(pair.output, outputKeys) && pair.output !== undefined) {
      // One is empty and the other is not: the empty one counts as a field.
      countField(comparison, { ...pair, gold: undefined }, numberTolerance);
      pushChildren(pairs, { ...pair, output: undefined }, goldKeys);
    } else if (isLeaf(pair.gold, goldKeys) && pair.gold !== undefined) {
      countField(comparison, { ...pair, output: undefined }, numberTolerance);
      pushChildren(pairs, { ...pair, gold: undefined }, outputKeys);
    } else {
      pushChildren(pairs, pair, [...new Set([...goldKeys, ...outputKeys])]);
    }
  }
  return comparison;
}

function pushChildren(pairs: Pair[], { path, output, gold, ignored }: Pair, keys: readonly string[]): void {
  for (const key of keys.toReversed())
    pairs.push({
      path: { parent: path, key },
      output: childOf(output, key),
      gold: childOf(gold, key),
      ignored: ignored?.below.get(key),
    });
}

function countField(comparison: JsonComparison, { path, output, gold }: Pair, numberTolerance: number): void {
  if (output !== undefined) comparison.outputFields += 1;
  if (gold !== undefined) comparison.goldFields += 1;
  if (output === undefined) {
    if (gold !== undefined)
      addMismatch(comparison.missing, () => ({ path: toJsonPointer(path), gold: show(gold) }));
  } else if (gold === undefined) {
    addMismatch(comparison.unexpected, () => ({ path: toJsonPointer(path), output: show(output) }));
  } else if (isEqualLeaf(output, gold, numberTolerance)) {
    comparison.equalFields += 1;
  } else {
    addMismatch(comparison.different, () => ({
      path: toJsonPointer(path),
      output: show(output),
      gold: show(gold),
    }));
  }
}

function addMismatch(mismatches: Mismatches, describe: () => Mismatch): void {
  mismatches.count += 1;
  if (mismatches.first.length < maxListed) mismatches.first.push(describe());
}

function keysOf(value: Json | undefined, ignored: IgnoredPaths | undefined): string[] {
  if (!isContainer(value)) return [];
  const keys = Object.keys(value);
  return ignored === undefined ? keys : keys.filter((key) => !ignored.below.get(key)?.whole);
}

function childOf(value: Json | undefined, key: string): Json | undefined {
  return isContainer(value) && Object.hasOwn(value, key)
    ? (value as { [key: string]: Json })[key]
    : undefined;
}

/** An absent value counts as a leaf too. */
function isLeaf(value: Json | undefined, keys: readonly string[]): boolean {
  return !isContainer(value) || keys.length === 0;
}

function sameKind(one: Json, other: Json): boolean {
  return isContainer(one) && isContainer(other) && Array.isArray(one) === Array.isArray(other);
}

function isEqualLeaf(output: Json, gold: Json, numberTolerance: number): boolean {
  if (isContainer(output) || isContainer(gold)) return sameKind(output, gold);
  if (isNumber(output) && isNumber(gold))
    return (
      isEqualNumber(output, gold) ||
      (numberTolerance > 0 && Math.abs(Number(output) - Number(gold)) <= numberTolerance)
    );
  return output === gold;
}

function isNumber(value: Json): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

/** Exact, even between an integer with all its digits and a number such as 1e17. */
function isEqualNumber(one: number | bigint, other: number | bigint): boolean {
  return !(one < other) && !(one > other);
}

function show(value: Json): string {
  if (isContainer(value)) return Array.isArray(value) ? "[]" : "{}";
  if (typeof value === "bigint") return cutText(String(value), maxShownValueLength);
  const start = typeof value === "string" ? value.slice(0, maxShownValueLength + 1) : value;
  return cutText(JSON.stringify(start), maxShownValueLength);
}
