import type { Run } from "@presage/sdk";

/** How a run is told from the others: by a letter and a colour, as several runs may have the same name. */
export interface MarkedRun {
  run: Run;
  letter: string;
  color: string;
}

/** Longer names are cut in sentences. */
const nameCharacters = 60;
const letters = ["A", "B", "C", "D", "E"];

/** In the order of the comparison; A is the reference. */
export function markRuns(runs: readonly Run[]): MarkedRun[] {
  return runs.map((run, index) => ({
    run,
    letter: letters[index] ?? String(index + 1),
    color: `var(--chart-${index + 1})`,
  }));
}

/** The run's name for a sentence; with its letter where another one of them has the same. */
export function nameRun({ run, letter }: MarkedRun, all: readonly MarkedRun[]): string {
  const nameOf = ({ name }: Run) =>
    name.length > nameCharacters ? `${name.slice(0, nameCharacters)}…` : name;
  const isUnique = all.every((other) => other.run.id === run.id || nameOf(other.run) !== nameOf(run));
  return isUnique ? nameOf(run) : `${nameOf(run)} (${letter})`;
}
