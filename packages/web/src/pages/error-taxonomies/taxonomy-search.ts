import { readResultsSearch } from "../../parts/results/results-search.ts";
import { isRevision, present } from "../../search-params.ts";

/** The search parameters of a taxonomy's page. */
export interface TaxonomySearch {
  /** Absent: the newest. */
  revision?: number;
  /** The revision to compare with. */
  against?: number;
  /** The chosen kind of error, as JSON of its path. Absent: the most frequent kind. */
  kind?: string;
  /** Groups the errors shown next to the tree by run; absent: by model. */
  by?: "run";
  /** The result that is open. */
  result?: string;
}

export function readTaxonomySearch(search: Record<string, unknown>): TaxonomySearch {
  const { revision, against, kind } = search;
  return present({
    revision: isRevision(revision) ? revision : undefined,
    against: isRevision(against) ? against : undefined,
    kind: typeof kind === "string" && kind.startsWith("[") ? kind : undefined,
    by: search.by === "run" ? ("run" as const) : undefined,
    result: readResultsSearch({ result: search.result }).result,
  });
}
