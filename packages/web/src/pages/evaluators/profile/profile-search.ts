import { type PeriodSearch, readPeriodSearch } from "../../../format/times.ts";
import { readResultsSearch } from "../../../parts/results-search.ts";
import { isRevision } from "../../../search-params.ts";

/** The search parameters of a profile's page. */
export interface ProfileSearch extends PeriodSearch {
  /** The revisions to compare. */
  from?: number;
  to?: number;
  /** The id of the rate shown by day. Absent: that with the most verdicts. */
  rate?: string;
  /** The result that is open. */
  result?: string;
}

export function readProfileSearch(search: Record<string, unknown>): ProfileSearch {
  const { from, to, rate } = search;
  const { result } = readResultsSearch({ result: search.result });
  return {
    ...readPeriodSearch(search),
    ...(isRevision(from) && { from }),
    ...(isRevision(to) && { to }),
    ...(typeof rate === "string" && rate !== "" && { rate }),
    ...(result !== undefined && { result }),
  };
}
