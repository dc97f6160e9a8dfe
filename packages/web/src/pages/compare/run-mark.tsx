import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import type { MarkedRun } from "./run-marks.ts";

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
      <span className="min-w-0 truncate" title={marked.run.name}>
        <InlineText text={marked.run.name} />
      </span>
    </span>
  );
}
