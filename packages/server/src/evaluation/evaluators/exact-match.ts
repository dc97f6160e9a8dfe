import { z } from "zod";
import type { RuleFamily } from "./family.ts";
import { codePointPositions } from "./text/code-points.ts";
import { describeDifference, firstDifference } from "./text/first-difference.ts";
import { plainOutput } from "./text/plain-output.ts";

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
      const said = normalise(output, profile);
      const wanted = normalise(goldAnswer, profile);
      const at = firstDifference(said, wanted);
      if (at === undefined)
        return { pass: true, score: 1, explain: () => "The output equals the gold answer." };
      const start = output.indexOf(said);
      return {
        pass: false,
        score: 0,
        // Only what stands in the output as it is can be pointed at.
        ...(start < 0 ? {} : { positions: codePointPositions(output, [[start + at, start + said.length]]) }),
        explain: () => describeDifference(said, wanted, at),
      };
    };
  },
};

function normalise(text: string, { trim, ignore_case, strip_tags }: Config): string {
  const plain = strip_tags ? plainOutput(text) : text;
  const trimmed = trim ? plain.trim() : plain;
  return ignore_case ? trimmed.toLowerCase() : trimmed;
}
