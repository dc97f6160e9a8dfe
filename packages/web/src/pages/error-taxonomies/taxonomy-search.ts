import { readResultsSearch } from "../../parts/results-search.ts";
import { isRevision } from "../../search-params.ts";

/** The search parameters of a taxonomy's page. */
export interface TaxonomySearch {
  /** Absent: the newest. */
  revision?: number;
  /** The revision to compare with. */
  against?: number;
  /** The chosen kind of error: the JSON of its path. Absent: the most frequent. */
  kind?: string;
  /** Whose errors are shown beside the tree; absent: the models'. */
  by?: "run";
  /** The result that is open. */
  result?: string;
}

export function readTaxonomySearch(search: Record<string, unknown>): TaxonomySearch {
  const { revision, against, kind } = search;
  const { result } = readResultsSearch({ result: search.result });
  return {
    ...(isRevision(revision) && { revision }),
    ...(isRevision(against) && { against }),
    ...(typeof kind === "string" && kind.startsWith("[") && { kind }),
    ...(search.by === "run" && { by: "run" }),
    ...(result !== undefined && { result }),
  };
}
