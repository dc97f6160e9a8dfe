import type { Run } from "@presage/sdk";

/** Runs that can be compared with the first chosen one best come first: of the same dataset, newest first. */
export function orderRuns(runs: readonly Run[], chosenIds: readonly string[], words: string): Run[] {
  const first = runs.find(({ id }) => id === chosenIds[0]);
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = runs.filter(({ name, id }) =>
    wanted.every((word) => name.toLowerCase().includes(word) || id.startsWith(word)),
  );
  if (first === undefined) return matching;
  const isNear = (run: Run) => run.dataset_id !== null && run.dataset_id === first.dataset_id;
  return [...matching.filter(isNear), ...matching.filter((run) => !isNear(run))];
}
