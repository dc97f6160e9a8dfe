import type { Comparison } from "@presage/sdk";
import { Info } from "lucide-react";
import { nameEvaluator } from "../../parts/evaluators.tsx";
import type { MarkedRun } from "./run-marks.ts";

interface LeftOutNoteProps {
  evaluators: Comparison["evaluators"];
  leftOut: Comparison["evaluators_left_out"];
  marked: readonly MarkedRun[];
}

/** Which evaluators cannot be compared, and why. */
export function LeftOutNote({ evaluators, leftOut, marked }: LeftOutNoteProps) {
  const nothing = evaluators.length === 0 ? "These runs have no evaluator in common." : "";
  const named = leftOut.map((one) => {
    const letter = marked.find(({ run }) => run.id === one.run_id)?.letter ?? "";
    return `${nameEvaluator(one, [...evaluators, ...leftOut])} of ${letter}`;
  });
  if (nothing === "" && named.length === 0) return null;
  return (
    <p className="flex gap-2 rounded-lg border border-line bg-sunken px-4 py-2.5 text-sm text-ink-2">
      <Info className="mt-0.5 size-4 shrink-0 text-ink-3" aria-hidden />
      <span className="min-w-0 wrap-anywhere">
        {nothing}{" "}
        {named.length > 0 &&
          `Left out, as ${named.length === 1 ? "it has" : "they have"} no counterpart at the same revision: ${named.join(", ")}.`}
      </span>
    </p>
  );
}
