import { distance } from "fastest-levenshtein";
import { z } from "zod";
import { countOf } from "../../platform/words.ts";
import { defineFamily } from "../family.ts";
import { type Position, UnusableSampleError } from "../outcome.ts";
import {
  codePointPositions,
  describeDifference,
  firstDifference,
  type NormalisedText,
  normaliseText,
  textNormalisation,
} from "./text.ts";

/** How many items two sequences share at their beginnings, and then at their ends. */
export interface SharedEnds {
  prefix: number;
  suffix: number;
}

export function sharedEnds<Item>(one: ArrayLike<Item>, other: ArrayLike<Item>): SharedEnds {
  const shorter = Math.min(one.length, other.length);
  let prefix = 0;
  while (prefix < shorter && one[prefix] === other[prefix]) prefix += 1;
  let suffix = 0;
  while (suffix < shorter - prefix && one[one.length - 1 - suffix] === other[other.length - 1 - suffix]) {
    suffix += 1;
  }
  return { prefix, suffix };
}

/** Edit distance and length of the longer text, in Unicode code points. */
export interface EditDistance {
  edits: number;
  longer: number;
}

const surrogate = /[\uD800-\uDFFF]/;
/** Units for characters that are only in one text; shared characters have the units in between. */
const onlyInOne = 0;
const onlyInOther = 0xffff;
/** About six seconds of work. */
const maxProductOfLengths = 4e10;

/**
 * Insertions, deletions and substitutions from one text to the other. Undefined if that would take too long:
 * texts of 200,000 characters can still be compared, longer ones if they differ only in one stretch.
 */
export function countEdits(one: string, other: string): EditDistance | undefined {
  const units = surrogate.test(one) || surrogate.test(other) ? toUnits(one, other) : [one, other];
  const [left, right] = units ?? [];
  if (left === undefined || right === undefined) return undefined;
  const { prefix, suffix } = sharedEnds(left, right);
  const leftRest = left.slice(prefix, left.length - suffix);
  const rightRest = right.slice(prefix, right.length - suffix);
  if (leftRest.length * rightRest.length > maxProductOfLengths) return undefined;
  return { edits: distance(leftRest, rightRest), longer: Math.max(left.length, right.length) };
}

/** The library counts UTF-16 units, so each code point gets its own unit. No natural text needs more units than there are. */
function toUnits(one: string, other: string): [string, string] | undefined {
  const oneCodePoints = [...one];
  const otherCodePoints = [...other];
  const inOther = new Set(otherCodePoints);
  const shared = [...new Set(oneCodePoints)].filter((codePoint) => inOther.has(codePoint));
  if (shared.length >= onlyInOther) return undefined;
  const unitOf = new Map(shared.map((codePoint, index) => [codePoint, index + 1]));
  const translate = (codePoints: readonly string[], unshared: number) =>
    codePoints.map((codePoint) => String.fromCharCode(unitOf.get(codePoint) ?? unshared)).join("");
  return [translate(oneCodePoints, onlyInOne), translate(otherCodePoints, onlyInOther)];
}

const config = z.strictObject({
  threshold: z
    .number()
    .min(0)
    .max(1)
    .default(0.9)
    .meta({ description: "The lowest similarity that passes." }),
  ...textNormalisation,
});

/** Each character becomes its own string. */
const maxCharacters = 2_500_000;

/** A product of lengths that takes about a millisecond. */
const cheapProductOfLengths = 1e6;

/** 1 − Levenshtein distance / length of the longer text, in Unicode code points. */
export const editDistance = defineFamily({
  kind: "rule",
  name: "edit-distance",
  description: "How similar the output and the gold answer are, by the characters that would have to change.",
  versions: ["2026-11-21"],
  needs: ["output", "goldAnswer"],
  config,
  threshold: ({ threshold }) => threshold,
  maxCharacters,
  builtInProfiles: [
    {
      name: "system:default",
      description: "At most one character in ten differs.",
      config: { threshold: 0.9, trim: true, ignore_case: false, strip_tags: false },
    },
  ],
  estimateMs: ({ output = "", goldAnswer = "" }) =>
    (output.length * goldAnswer.length) / cheapProductOfLengths,
  prepare(profile) {
    return ({ output = "", goldAnswer = "" }) => {
      const said = normaliseText(output, profile);
      const wanted = normaliseText(goldAnswer, profile);
      const distance = countEdits(said.text, wanted.text);
      if (distance === undefined) {
        throw new UnusableSampleError("The output and the gold answer are too long to be compared.");
      }
      const { edits, longer } = distance;
      const score = longer === 0 ? 1 : (longer - edits) / longer;
      const positions = edits === 0 ? [] : differingStretch(output, said, wanted);
      return {
        pass: score >= profile.threshold,
        score,
        positions: positions.length === 0 ? undefined : positions,
        extra: { edits, longer_length: longer },
        explain() {
          const at = firstDifference(said.text, wanted.text);
          if (at === undefined) return "The output equals the gold answer.";
          const where =
            said.range === undefined
              ? describeDifference(said.text, wanted.text, at)
              : describeDifference(output.slice(0, said.range[1]), wanted.text, at, said.range[0]);
          return `${edits} of ${countOf(longer, "character")} would have to change. ${where}`;
        },
      };
    };
  },
});

function differingStretch(output: string, said: NormalisedText, wanted: NormalisedText): Position[] {
  if (said.range === undefined) return [];
  // Two emoji may share half of their UTF-16 units and still be different characters.
  const saidCodePoints = [...said.text];
  const { prefix, suffix } = sharedEnds(saidCodePoints, [...wanted.text]);
  const [start = 0] = codePointPositions(output, [said.range])[0] ?? [];
  return [[start + prefix, start + saidCodePoints.length - suffix]];
}
