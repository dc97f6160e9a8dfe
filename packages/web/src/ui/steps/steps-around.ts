/** A strip of more steps would be slow and could not be read. */
const mostSteps = 120;

/** The part of a long list of steps that has the current one: the same part for neighbours, so that it does not move with each step. */
export function stepsAround(
  steps: readonly number[],
  current: number | undefined,
): { shown: readonly number[]; before: number | undefined; after: number | undefined } {
  const index = Math.max(0, current === undefined ? 0 : steps.indexOf(current));
  const from = index - (index % mostSteps);
  return {
    shown: steps.slice(from, from + mostSteps),
    before: from > 0 ? steps[from - 1] : undefined,
    after: steps[from + mostSteps],
  };
}
