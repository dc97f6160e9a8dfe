import { readPeriodSearch } from "../../format/times.ts";
import { readResultsSearch } from "../../parts/results/results-search.ts";
import { isRevision, present, readText } from "../../search-params.ts";
import { readTableSearch } from "../../ui/data-table/table-view.ts";

export type EvaluatorsSearch = ReturnType<typeof readEvaluatorsSearch>;

export function readEvaluatorsSearch(search: Record<string, unknown>) {
  return present({
    ...readPeriodSearch(search),
    ...readTableSearch(search),
    q: readText(search.q),
    /** Includes archived profiles. */
    archived: search.archived === true ? (true as const) : undefined,
    /** Includes evaluators without evaluations. */
    unused: search.unused === true ? (true as const) : undefined,
  });
}

export type ProfileSearch = ReturnType<typeof readProfileSearch>;

export function readProfileSearch(search: Record<string, unknown>) {
  const { from, to, rate } = search;
  return present({
    ...readPeriodSearch(search),
    /** The revisions to compare. */
    from: isRevision(from) ? from : undefined,
    to: isRevision(to) ? to : undefined,
    /** The id of the rate shown by day. Absent: the rate with the most verdicts. */
    rate: typeof rate === "string" && rate !== "" ? rate : undefined,
    /** The result that is open. */
    result: readResultsSearch({ result: search.result }).result,
  });
}
