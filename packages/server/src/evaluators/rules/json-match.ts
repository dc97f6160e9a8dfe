import { jsonrepair } from "jsonrepair";
import { z } from "zod";
import { andMore, beginning, shortened } from "../../platform/words.ts";
import { defineFamily } from "../family.ts";
import { refuseLonger, UnusableSampleError, type Verdict } from "../outcome.ts";
import { exactMatch } from "./exact-match.ts";
import {
  isContainer,
  type Json,
  type JsonPath,
  type JsonReading,
  notJson,
  readExactJson,
  readJsonPointer,
  toJsonPointer,
} from "./json.ts";
import { compareAsLlmSim } from "./llm-sim.ts";
import { isWithin } from "./numeric.ts";
import { stateOfInput } from "./state-change.ts";
import { fromDifference, plainOutput, plainRange } from "./text.ts";

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

/** The number of mismatches, and the first of them. */
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
function compareJson(
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
      output: show(output, gold),
      gold: show(gold, output),
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
    return isEqualNumber(output, gold) || isWithin(numberTolerance, output, gold);
  return output === gold;
}

function isNumber(value: Json): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

/** Compares exactly, even an integer with all its digits and a number such as 1e17. */
function isEqualNumber(one: number | bigint, other: number | bigint): boolean {
  return !(one < other) && !(one > other);
}

function show(value: Json, other: Json = value): string {
  if (isContainer(value)) return Array.isArray(value) ? "[]" : "{}";
  if (isNumber(value)) return shortened(String(value), maxShownValueLength);
  if (typeof value !== "string") return JSON.stringify(value);
  const differing = typeof other === "string" ? fromDifference(value, other, maxShownValueLength) : value;
  return shortened(JSON.stringify(beginning(differing, maxShownValueLength + 1)), maxShownValueLength);
}

/** Places that do not count, as a tree with the document's keys. */
export interface IgnoredPaths {
  whole: boolean;
  below: Map<string, IgnoredPaths>;
}

function readIgnoredPaths(pointers: readonly string[]): IgnoredPaths {
  const root: IgnoredPaths = { whole: false, below: new Map() };
  for (const pointer of pointers) {
    let node = root;
    for (const key of readJsonPointer(pointer) ?? []) {
      const next = node.below.get(key) ?? { whole: false, below: new Map() };
      node.below.set(key, next);
      node = next;
    }
    node.whole = true;
  }
  return root;
}

const cheapLength = 20_000;
/** Repairing takes far longer than parsing: milliseconds for this many characters, 200 ms for ten times as many. */
const cheapRepairLength = 2_000;
const maxNamed = 5;

const compareProse = exactMatch.prepare({
  variant: "presage",
  trim: true,
  ignore_case: false,
  strip_tags: true,
});

const jsonPointer = z
  .string()
  .max(1_000)
  .refine((pointer) => readJsonPointer(pointer) !== undefined, "is not a JSON pointer (RFC 6901)");

const config = z.strictObject({
  repair: z
    .boolean()
    .default(false)
    .meta({ description: "Repair an output that is nearly JSON before it is compared." }),
  ignore_paths: z
    .array(jsonPointer)
    .max(1_000)
    .default([])
    .meta({ description: "JSON pointers of fields that do not count, with everything below them." }),
  number_tolerance: z
    .number()
    .min(0)
    .default(0)
    .meta({ description: "Numbers that differ by at most this much are equal." }),
  prose_gold: z.enum(["unusable", "text"]).default("unusable").meta({
    description:
      "What happens where the gold answer is not JSON. `unusable`: the sample cannot be evaluated. `text`: the output passes if it is the same text, except for white space at the ends.",
  }),
  variant: z.enum(["presage", "llm-sim", "llm-sim-diff"]).default("presage").meta({
    description:
      "`presage`: by the settings above. The others compare states of games as LLM-Sim's script does, and the settings above have no effect: right if all objects of the gold answer are. With `llm-sim` the output is the whole next state. With `llm-sim-diff` it is `{modified, removed}`, which is applied to the state in the input.",
  }),
});

/** A list of small values takes a hundred times the memory of its text: about 300 MB at this length. */
const maxCharacters = 2_500_000;

export const jsonMatch = defineFamily({
  kind: "rule",
  name: "json-match",
  description: "The output equals the gold answer as JSON. The score is the F1 of its fields.",
  versions: ["2026-11-30", "2026-11-21"],
  needs: ["output", "goldAnswer"],
  takes: ["input"],
  needsWith: ({ variant }) => (variant === "llm-sim-diff" ? ["input"] : []),
  config,
  maxCharacters,
  builtInProfiles: [
    {
      name: "system:default",
      description: "Every field counts, numbers must be equal exactly, and nothing is repaired.",
      config: { repair: false, ignore_paths: [], number_tolerance: 0 },
    },
    {
      name: "system:json-or-text",
      description:
        "A gold answer in prose must be the same text, except for white space at the ends. JSON is compared as by the default.",
      config: { repair: false, ignore_paths: [], number_tolerance: 0, prose_gold: "text" },
    },
    {
      name: "system:llm-sim",
      description: "LLM-Sim's comparison of objects. The output is the whole next state.",
      config: { variant: "llm-sim" },
    },
    {
      name: "system:llm-sim-diff",
      description: "LLM-Sim's comparison of objects. The output is the difference to the state in the input.",
      config: { variant: "llm-sim-diff" },
    },
  ],
  prepare({ repair, ignore_paths, number_tolerance, prose_gold, variant }) {
    if (variant !== "presage") {
      return ({ input = "", output = "", goldAnswer: gold = "" }) => {
        if (variant === "llm-sim") return compareAsLlmSim({ output, gold });
        const current = stateOfInput(input);
        // The input is not among the texts that the family always needs.
        refuseLonger(output.length + gold.length + current.length, maxCharacters);
        return compareAsLlmSim({ output, gold, current });
      };
    }
    const ignored = readIgnoredPaths(ignore_paths);
    return ({ output = "", goldAnswer = "" }) => {
      const gold = readExactJson(plainOutput(goldAnswer));
      if (gold.issue !== undefined) {
        if (prose_gold === "text") {
          return { ...compareProse({ output, goldAnswer }), extra: { compared_as: "text" } };
        }
        throw new UnusableSampleError(`The gold answer is not JSON: ${gold.issue.reason}.`);
      }
      const said = readExactJson(plainOutput(output));
      if (said.issue === undefined)
        return toVerdict(compareJson(said.value, gold.value, ignored, number_tolerance));
      const repaired = repair ? readRepaired(plainOutput(output)) : undefined;
      if (repaired === undefined || repaired.issue !== undefined)
        return notJson(output, said.issue, plainRange(output));
      return toVerdict(compareJson(repaired.value, gold.value, ignored, number_tolerance), {
        repaired: true,
      });
    };
  },
  estimateMs({ input = "", output = "", goldAnswer = "" }, { repair, variant }) {
    const read = output.length + goldAnswer.length + (variant === "llm-sim-diff" ? input.length : 0);
    return Math.max(read / cheapLength, repair ? output.length / cheapRepairLength : 0);
  },
});

function readRepaired(text: string): JsonReading | undefined {
  try {
    return readExactJson(jsonrepair(text));
  } catch {
    // The text is beyond repair, or nested too deeply to be repaired.
    return undefined;
  }
}

function toVerdict(comparison: JsonComparison, notes: { repaired?: true } = {}): Verdict {
  const { outputFields, goldFields, equalFields, missing, unexpected, different } = comparison;
  const pass = equalFields === outputFields && equalFields === goldFields;
  return {
    pass,
    score: share(2 * equalFields, outputFields + goldFields),
    extra: {
      precision: share(equalFields, outputFields),
      recall: share(equalFields, goldFields),
      fields: { output: outputFields, gold: goldFields, equal: equalFields },
      missing_count: missing.count,
      missing: missing.first,
      unexpected_count: unexpected.count,
      unexpected: unexpected.first,
      different_count: different.count,
      different: different.first,
      ...notes,
    },
    explain: () => (pass ? "The output equals the gold answer as JSON." : describe(comparison)),
  };
}

/** The share of a document's fields; an empty document matches in full. */
function share(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole;
}

function describe({ goldFields, equalFields, missing, unexpected, different }: JsonComparison): string {
  const parts = [
    listPlaces("different", different),
    listPlaces("missing", missing),
    listPlaces("unexpected", unexpected),
  ].filter((part) => part !== "");
  const right =
    goldFields === 1
      ? `The gold answer's only field is ${equalFields === 1 ? "right" : "not right"}`
      : `${equalFields} of the gold answer's ${goldFields} fields are right`;
  return `${right}; ${parts.join("; ")}.`;
}

function listPlaces(word: string, { count, first }: Mismatches): string {
  if (count === 0) return "";
  const places = first.slice(0, maxNamed).map(({ path, output, gold }) => {
    const values = output !== undefined && gold !== undefined ? ` (${output}, should be ${gold})` : "";
    return `${path === "" ? "the document" : path}${values}`;
  });
  return `${word}: ${andMore(places, count)}`;
}
