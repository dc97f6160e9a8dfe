import { isRevision, present, readText } from "../../../search-params.ts";
import { readTableSearch, type TableSearch } from "../../../ui/data-table/table-view.ts";

/** `upload` opens the upload dialog. */
export function readDatasetsSearch(search: Record<string, unknown>): TableSearch & { upload?: true } {
  return { ...readTableSearch(search), ...(search.upload === true && { upload: true }) };
}

/** An id has at most 180 characters. */
const maxCharacters = 180;

/** Reads the URL of a dataset's page: `sort` and `columns` refer to its trajectories; invalid values are ignored. */
export function readDatasetSearch(search: Record<string, unknown>) {
  const { revision } = search;
  const q = readText(search.q);
  return present({
    /** Absent: the latest. */
    revision: isRevision(revision) ? revision : undefined,
    /** A part of the trajectories' ids. */
    q: q === undefined || q.length > maxCharacters ? undefined : q,
    ...readTableSearch(search),
  });
}
