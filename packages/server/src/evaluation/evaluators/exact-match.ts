import { z } from "zod";
import { defineFamily } from "./family.ts";
import { codePointPositions } from "./text/code-points.ts";
import {
  describeDifference,
  firstDifference,
  normaliseText,
  textNormalisation,
} from "./text/compare-texts.ts";

const config = z.strictObject(textNormalisation);

export const exactMatch = defineFamily({
  kind: "rule",
  name: "exact-match",
  description: "The output equals the gold answer.",
  versions: ["2026-11-21"],
  needs: ["output", "goldAnswer"],
  config,
  builtInProfiles: [
    {
      name: "system:default",
      description: "Equal but for white space at the ends.",
      config: { trim: true, ignore_case: false, strip_tags: false },
    },
  ],
  prepare(profile) {
    return ({ output = "", goldAnswer = "" }) => {
      const { text: said, range } = normaliseText(output, profile);
      const wanted = normaliseText(goldAnswer, profile).text;
      const at = firstDifference(said, wanted);
      if (at === undefined)
        return { pass: true, score: 1, explain: () => "The output equals the gold answer." };
      if (range === undefined)
        return { pass: false, score: 0, explain: () => describeDifference(said, wanted, at) };
      const [start, end] = range;
      return {
        pass: false,
        score: 0,
        positions: codePointPositions(output, [[start + at, end]]),
        explain: () => describeDifference(output.slice(0, end), wanted, at, start),
      };
    };
  },
});
