import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { changeSearch, type Filtering } from "../../../parts/results-search.ts";
import { VerdictMark } from "../../../ui/verdict/verdict-mark.tsx";
import { type Judge, resultsOf, type SampleRow } from "./group-by-sample.ts";
import { nameOf } from "./sample-columns.tsx";

interface SampleVerdictsProps {
  row: SampleRow;
  openId: string;
  judges: readonly Judge[];
  filtering: Filtering;
}

/** All verdicts on the sample whose result is open. */
export function SampleVerdicts({ row, openId, judges, filtering: { search } }: SampleVerdictsProps) {
  return (
    <nav aria-label="Verdicts on this sample" className="flex flex-wrap gap-2 border-b border-line px-4 py-2">
      {judges.flatMap((judge) =>
        resultsOf(row, judge).map(({ id, status, pass, score_raw, corrected }) => (
          <Link
            key={id}
            to="/evaluations"
            search={changeSearch(search, { result: id })}
            replace
            resetScroll={false}
            preload={false}
            aria-current={id === openId ? "true" : undefined}
            className={clsx(
              "flex max-w-full items-center gap-2 rounded-md border px-2 py-1 text-sm",
              id === openId ? "border-accent bg-accent-soft" : "border-line hover:bg-hover",
            )}
          >
            <span className="truncate text-ink-2">{nameOf(judge, judges)}</span>
            <VerdictMark
              status={status}
              pass={corrected?.pass ?? pass}
              score={corrected?.score ?? score_raw}
            />
          </Link>
        )),
      )}
    </nav>
  );
}
