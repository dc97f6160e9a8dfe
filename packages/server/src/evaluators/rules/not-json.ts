import type { Position, Verdict } from "../evaluator-outcome.ts";
import { codePointPositions } from "./code-points.ts";
import type { JsonIssue } from "./find-json-issue.ts";

/** The verdict on an output whose compared part, `[start, end]` in UTF-16 units, is not JSON. */
export function notJson(output: string, { at, reason }: JsonIssue, [start, end]: Position): Verdict {
  const positions = codePointPositions(output, [[start + at, end]]);
  return {
    pass: false,
    score: 0,
    positions,
    explain: () => `The output is not JSON from character ${positions[0]?.[0] ?? 0} on: ${reason}.`,
  };
}
