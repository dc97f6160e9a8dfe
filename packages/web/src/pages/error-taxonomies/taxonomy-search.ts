import { readResultsSearch } from "../../parts/results/results-search.ts";
import { isRevision, present } from "../../search-params.ts";

export type TaxonomySearch = ReturnType<typeof readTaxonomySearch>;

export function readTaxonomySearch(search: Record<string, unknown>) {
  const { revision, against, kind } = search;
  return present({
    /** Absent: the newest. */
    revision: isRevision(revision) ? revision : undefined,
    /** The revision to compare with. */
    against: isRevision(against) ? against : undefined,
    /** The chosen kind of error, as JSON of its path. Absent: the most frequent kind. */
    kind: typeof kind === "string" && kind.startsWith("[") ? kind : undefined,
    /** Groups the errors shown next to the tree by run; absent: by model. */
    by: search.by === "run" ? ("run" as const) : undefined,
    /** The result that is open. */
    result: readResultsSearch({ result: search.result }).result,
  });
}
