import { z } from "zod";
import type { Position, RuleFamily } from "./family.ts";
import { codePointPositions } from "./text/code-points.ts";
import { describeDifference, firstDifference } from "./text/first-difference.ts";
import { plainRange } from "./text/plain-output.ts";

const config = z.strictObject({
  trim: z.boolean().default(true).meta({ description: "White space at both ends does not count." }),
  ignore_case: z.boolean().default(false),
  strip_tags: z
    .boolean()
    .default(false)
    .meta({ description: "Take out `<think>` blocks and unwrap `<tool_response>` first." }),
});
type Config = z.output<typeof config>;

export const exactMatch: RuleFamily<Config> = {
  kind: "rule",
  name: "exact-match",
  description: "The output equals the gold answer.",
  versions: ["2026-11-21"],
  needs: ["output", "goldAnswer"],
  config,
  systemProfiles: [
    {
      name: "system:default",
      description: "Equal but for white space at the ends.",
      config: { trim: true, ignore_case: false, strip_tags: false },
    },
  ],
  prepare(profile) {
    return ({ output = "", goldAnswer = "" }) => {
      const [start, end] = comparedRange(output, profile);
      const said = fold(output.slice(start, end), profile);
      const wanted = fold(goldAnswer.slice(...comparedRange(goldAnswer, profile)), profile);
      const at = firstDifference(said, wanted);
      if (at === undefined)
        return { pass: true, score: 1, explain: () => "The output equals the gold answer." };
      // Some letters change their length with their case; their place in the output is then unknown.
      if (said.length !== end - start)
        return { pass: false, score: 0, explain: () => describeDifference(said, wanted, at) };
      return {
        pass: false,
        score: 0,
        positions: codePointPositions(output, [[start + at, end]]),
        explain: () => describeDifference(output.slice(0, end), wanted, at, start),
      };
    };
  },
};

function comparedRange(text: string, { trim, strip_tags }: Config): Position {
  const [start, end] = strip_tags ? plainRange(text) : [0, text.length];
  if (!trim) return [start, end];
  const inner = text.slice(start, end);
  const trimmedEnd = start + inner.trimEnd().length;
  return [Math.min(end - inner.trimStart().length, trimmedEnd), trimmedEnd];
}

function fold(text: string, { ignore_case }: Config): string {
  return ignore_case ? text.toLowerCase() : text;
}
