import { formatCount } from "./format-number.ts";

/** Why an evaluation is without a verdict. */
export type Cause = "error" | "contradictory" | "unusable-input";

const nouns: Record<Cause, string> = {
  error: "error",
  contradictory: "contradictory verdict",
  "unusable-input": "unusable input",
};

/** “94 unusable inputs” */
export function describeCause(cause: Cause, count: number): string {
  return `${formatCount(count)} ${nouns[cause]}${count === 1 ? "" : "s"}`;
}
