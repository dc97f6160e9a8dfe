import type { Run } from "@presage/sdk";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { cutBefore } from "../../ui/untrusted-text/text-ranges.ts";

/** A run with a letter and a colour to distinguish it, as several runs may have the same name. */
export interface MarkedRun {
  run: Run;
  letter: string;
  color: string;
}

const letters = ["A", "B", "C", "D", "E"];

/** Marks the runs in the order of the comparison; A is the reference. */
export function markRuns(runs: readonly Run[]): MarkedRun[] {
  return runs.map((run, index) => ({
    run,
    letter: letters[index] ?? String(index + 1),
    color: `var(--color-chart-${index + 1})`,
  }));
}

/** Longer names are cut in sentences. */
const nameCharacters = 60;

/** The run's name for a sentence; with its letter if another compared run has the same name. */
export function nameRun({ run, letter }: MarkedRun, all: readonly MarkedRun[]): string {
  const nameOf = ({ name }: Run) =>
    name.length > nameCharacters ? `${name.slice(0, cutBefore(name, nameCharacters))}…` : name;
  const isUnique = all.every((other) => other.run.id === run.id || nameOf(other.run) !== nameOf(run));
  return isUnique ? nameOf(run) : `${nameOf(run)} (${letter})`;
}

/** A run's letter in its colour. */
export function RunMark({ letter, color }: Pick<MarkedRun, "letter" | "color">) {
  return (
    <span
      className="inline-flex size-5 shrink-0 items-center justify-center rounded border-2 text-xs leading-none font-semibold text-ink"
      style={{ borderColor: color }}
    >
      {letter}
    </span>
  );
}

/** A run's letter and name. */
export function RunName({ marked }: { marked: MarkedRun }) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <RunMark {...marked} />
      <span
        className="min-w-0 truncate phone:line-clamp-4 phone:whitespace-normal phone:wrap-anywhere"
        title={marked.run.name}
      >
        <InlineText text={marked.run.name} />
      </span>
    </span>
  );
}
