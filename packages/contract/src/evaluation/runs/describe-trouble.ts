// The dashboard bundles this file too, so it imports only types.
import type { RunProgress } from "./run.ts";

const some = (count: number, one: string, many: string) =>
  count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];

/** What is missing of a run, in words: failed predictions and missing verdicts, by these names everywhere. */
export function describeFailures({ failed_predictions, without_verdict }: RunProgress): string[] {
  return [
    ...some(failed_predictions, "prediction failed", "predictions failed"),
    ...some(without_verdict, "without a verdict", "without a verdict"),
  ];
}

/** What a run's failures do not show, in words: answers that are not what they seem, and calls that were tried again. */
export function describeTrouble({ answers, tries }: Pick<RunProgress, "answers" | "tries">): string[] {
  const { truncated = 0, empty = 0, repaired = 0 } = answers ?? {};
  const { retried = {}, timed_out = 0, at_once } = tries ?? {};
  const kinds = Object.entries(retried).map(([category, count]) => `${category} ${count}`);
  const calls = Object.values(retried).reduce((sum, count) => sum + count, 0);
  const byKind = `tried again (${kinds.join(", ")})`;
  return [
    ...some(truncated, "answer cut", "answers cut"),
    ...some(empty, "answer empty", "answers empty"),
    ...some(repaired, "verdict on a repaired answer", "verdicts on repaired answers"),
    ...some(calls, `call ${byKind}`, `calls ${byKind}`),
    ...some(timed_out, "call timed out", "calls timed out"),
    ...(at_once === undefined ? [] : [`the deployment answers about ${at_once} at once`]),
  ];
}
