import { type PeriodSearch, readPeriodSearch } from "../../format/times.ts";
import { readResultsSearch } from "../../parts/results/results-search.ts";
import { isRevision, present, readText } from "../../search-params.ts";
import { readTableSearch, type TableSearch } from "../../ui/data-table/table-view.ts";

export interface EvaluatorsSearch extends PeriodSearch, TableSearch {
  q?: string;
  /** Includes archived profiles. */
  archived?: true;
  /** Includes evaluators without evaluations. */
  unused?: true;
}

export function readEvaluatorsSearch(search: Record<string, unknown>): EvaluatorsSearch {
  return present({
    ...readPeriodSearch(search),
    ...readTableSearch(search),
    q: readText(search.q),
    archived: search.archived === true ? true : undefined,
    unused: search.unused === true ? true : undefined,
  });
}

/** The search parameters of a profile's page. */
export interface ProfileSearch extends PeriodSearch {
  /** The revisions to compare. */
  from?: number;
  to?: number;
  /** The id of the rate shown by day. Absent: the rate with the most verdicts. */
  rate?: string;
  /** The result that is open. */
  result?: string;
}

export function readProfileSearch(search: Record<string, unknown>): ProfileSearch {
  const { from, to, rate } = search;
  return present({
    ...readPeriodSearch(search),
    from: isRevision(from) ? from : undefined,
    to: isRevision(to) ? to : undefined,
    rate: typeof rate === "string" && rate !== "" ? rate : undefined,
    result: readResultsSearch({ result: search.result }).result,
  });
}
