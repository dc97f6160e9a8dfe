import { type Measure, measures } from "../report/describe-figures.ts";
import { type MatrixSearch, readMatrixSearch } from "../samples/matrix-search.ts";

const tabs = ["report", "samples"] as const;
export type RunTab = (typeof tabs)[number];

/** The search parameters of a run: of its report, and of its samples. */
export interface RunSearch extends MatrixSearch {
  /** Absent: the report. */
  tab?: RunTab;
  /** The key of the evaluator whose groups are shown. Absent: the first. */
  evaluator?: string;
  /** Absent: the pass rate. */
  measure?: Measure;
}

/** Reads the URL; invalid values are ignored. */
export function readRunSearch(search: Record<string, unknown>): RunSearch {
  const tab = tabs.find((known) => known === search.tab);
  const measure = measures.find((known) => known === search.measure);
  return {
    ...(tab !== undefined && { tab }),
    ...(typeof search.evaluator === "string" && search.evaluator !== "" && { evaluator: search.evaluator }),
    ...(measure !== undefined && { measure }),
    ...readMatrixSearch(search),
  };
}
