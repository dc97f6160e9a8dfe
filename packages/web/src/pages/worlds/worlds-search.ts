import { present } from "../../search-params.ts";

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
