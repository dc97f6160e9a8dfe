import { z } from "zod";
import { countOf } from "../../platform/count-of.ts";
import { UnusableSampleError } from "../evaluation-error.ts";
import type { Position } from "../evaluator-outcome.ts";
import { defineFamily } from "../family.ts";
import { codePointPositions } from "./code-points.ts";
import {
  describeDifference,
  firstDifference,
  type NormalisedText,
  normaliseText,
  textNormalisation,
} from "./compare-texts.ts";
import { countEdits } from "./levenshtein.ts";
import { sharedEnds } from "./shared-ends.ts";

const config = z.strictObject({
  threshold: z
    .number()
    .min(0)
    .max(1)
    .default(0.9)
    .meta({ description: "The lowest similarity that passes." }),
  ...textNormalisation,
});

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
