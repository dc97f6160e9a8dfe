import { present, readText } from "../../search-params.ts";
import { readTableSearch, type TableSearch } from "../../ui/data-table/table-view.ts";

interface WorldsSearch extends TableSearch {
  /** The id of a dataset, from which to make a world. */
  dataset?: string;
}

/** Reads the URL; invalid values are ignored. */
export function readWorldsSearch(search: Record<string, unknown>): WorldsSearch {
  return { ...readTableSearch(search), ...present({ dataset: readText(search.dataset) }) };
}

const tabs = ["answer", "examples", "quality", "confidence", "revisions"] as const;
export type WorldTab = (typeof tabs)[number];

/** The search parameters of a world's page. */
interface WorldSearch {
  /** Absent: the answer tab. */
  tab?: WorldTab;
}

/** Reads the URL; invalid values are ignored. */
export function readWorldSearch(search: Record<string, unknown>): WorldSearch {
  return present({ tab: tabs.find((known) => known === search.tab) });
}
