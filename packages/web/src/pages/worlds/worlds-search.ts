import { present, readText } from "../../search-params.ts";
import { readTableSearch } from "../../ui/data-table/table-view.ts";

/** `dataset` is the id of a dataset, from which to make a world. Invalid values are ignored. */
export function readWorldsSearch(search: Record<string, unknown>) {
  return { ...readTableSearch(search), ...present({ dataset: readText(search.dataset) }) };
}

const tabs = ["answer", "examples", "quality", "confidence", "revisions"] as const;
export type WorldTab = (typeof tabs)[number];

/** Without a tab, the answer tab is shown. Invalid values are ignored. */
export function readWorldSearch(search: Record<string, unknown>) {
  return present({ tab: tabs.find((known) => known === search.tab) });
}
