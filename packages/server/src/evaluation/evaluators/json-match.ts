import { jsonrepair } from "jsonrepair";
import { z } from "zod";
import { UnusableSampleError } from "../evaluation-error.ts";
import type { Verdict } from "../evaluator-outcome.ts";
import { defineFamily } from "./family.ts";
import { compareJson, type JsonComparison, type Mismatches } from "./json/compare-json.ts";
import { readIgnoredPaths } from "./json/ignored-paths.ts";
import { readJsonPointer } from "./json/json-path.ts";
import { type JsonReading, readExactJson } from "./json/read-json.ts";
import { codePointPositions } from "./text/code-points.ts";
import { plainOutput, plainRange } from "./text/plain-output.ts";

const heavyLength = 20_000;
/** Mending takes far longer than reading: so many characters may take milliseconds, ten times as many a fifth of a second. */
const heavyRepairedLength = 2_000;
const maxNamed = 5;

const jsonPointer = z
  .string()
  .max(1_000)
  .refine((pointer) => readJsonPointer(pointer) !== undefined, "is no JSON pointer (RFC 6901)");

const config = z.strictObject({
  repair: z
    .boolean()
    .default(false)
    .meta({ description: "Mend an output that is nearly JSON before it is compared." }),
  ignore_paths: z
    .array(jsonPointer)
    .max(1_000)
    .default([])
    .meta({ description: "JSON pointers of fields that do not count, with all that is below them." }),
  number_tolerance: z.number().min(0).default(0),
});

/** A list of small values takes a hundred times its text: at this length some 300 MB. */
const maxCharacters = 2_500_000;

export const jsonMatch = defineFamily({
  kind: "rule",
  name: "json-match",
  description: "The output equals the gold answer as JSON. The score is the F1 of its fields.",
  versions: ["2026-11-21"],
  needs: ["output", "goldAnswer"],
  config,
  maxCharacters,
  builtInProfiles: [
    {
      name: "system:default",
      description: "Every field counts, numbers are equal exactly, and nothing is mended.",
      config: { repair: false, ignore_paths: [], number_tolerance: 0 },
    },
  ],
  prepare({ repair, ignore_paths, number_tolerance }) {
    const ignored = readIgnoredPaths(ignore_paths);
    return ({ output = "", goldAnswer = "" }) => {
      const gold = readExactJson(plainOutput(goldAnswer));
      if (gold.fault !== undefined)
        throw new UnusableSampleError(`The gold answer is no JSON: ${gold.fault.reason}.`);
      const said = readExactJson(plainOutput(output));
      if (said.fault === undefined)
        return toVerdict(compareJson(said.value, gold.value, ignored, number_tolerance));
      const mended = repair ? readRepaired(plainOutput(output)) : undefined;
      if (mended === undefined || mended.fault !== undefined)
        return notJson(output, said.fault.at, said.fault.reason);
      return toVerdict(compareJson(mended.value, gold.value, ignored, number_tolerance), { repaired: true });
    };
  },
  isExpensive: ({ output = "", goldAnswer = "" }, { repair }) =>
    (repair && output.length > heavyRepairedLength) || output.length + goldAnswer.length > heavyLength,
});

function readRepaired(text: string): JsonReading | undefined {
  try {
    return readExactJson(jsonrepair(text));
  } catch {
    // Beyond repair, or nested too deeply for it.
    return undefined;
  }
}

function notJson(output: string, atInPlain: number, reason: string): Verdict {
  const [start, end] = plainRange(output);
  const positions = codePointPositions(output, [[start + atInPlain, end]]);
  return {
    pass: false,
    score: 0,
    positions,
    explain: () => `The output is no JSON from character ${positions[0]?.[0] ?? 0} on: ${reason}.`,
  };
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

/** All of nothing is everything. */
function share(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole;
}

function describe({ goldFields, equalFields, missing, unexpected, different }: JsonComparison): string {
  const parts = [
    listPlaces("different", different),
    listPlaces("missing", missing),
    listPlaces("unexpected", unexpected),
  ].filter((part) => part !== "");
  return `${equalFields} of the gold answer's ${goldFields} fields are right; ${parts.join("; ")}.`;
}

function listPlaces(word: string, { count, first }: Mismatches): string {
  if (count === 0) return "";
  const places = first.slice(0, maxNamed).map(({ path, output, gold }) => {
    const values = output !== undefined && gold !== undefined ? ` (${output}, should be ${gold})` : "";
    return `${path === "" ? "the whole" : path}${values}`;
  });
  const more = count - places.length;
  return `${word}: ${places.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
