import { isRevision } from "../../../search-params.ts";
import { readTableSearch, type TableSearch } from "../../../ui/data-table/table-search.ts";

/** What of a dataset is shown: `sort` and `columns` are of its trajectories. */
export interface DatasetSearch extends TableSearch {
  /** Absent: the latest. */
  revision?: number;
  /** A text of the trajectories' ids. */
  q?: string;
}

/** An id has at most 180 characters. */
const maxCharacters = 180;

/** Reads the URL; invalid values are ignored. */
export function readDatasetSearch(search: Record<string, unknown>): DatasetSearch {
  const { revision, q } = search;
  // An id may be called “404” or “true”.
  const text = typeof q === "number" || typeof q === "boolean" ? String(q) : q;
  const isText = typeof text === "string" && text !== "" && text.length <= maxCharacters;
  return {
    ...(isRevision(revision) && { revision }),
    ...(isText && text.isWellFormed() && !text.includes("\0") && { q: text }),
    ...readTableSearch(search),
  };
}
