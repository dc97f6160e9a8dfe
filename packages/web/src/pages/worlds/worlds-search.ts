import { present, readText } from "../../search-params.ts";
import { readTableSearch, type TableSearch } from "../../ui/data-table/table-view.ts";

interface WorldsSearch extends TableSearch {
  /** Of which a world is made: the id of a dataset. */
  dataset?: string;
}

/** Reads the URL; invalid values are ignored. */
export function readWorldsSearch(search: Record<string, unknown>): WorldsSearch {
  return { ...readTableSearch(search), ...present({ dataset: readText(search.dataset) }) };
}

const tabs = ["answer", "examples", "quality", "confidence", "revisions"] as const;
export type WorldTab = (typeof tabs)[number];

/** What of a world is shown. */
interface WorldSearch {
  /** Absent: an answer. */
  tab?: WorldTab;
}

/** Reads the URL; invalid values are ignored. */
export function readWorldSearch(search: Record<string, unknown>): WorldSearch {
  return present({ tab: tabs.find((known) => known === search.tab) });
}
