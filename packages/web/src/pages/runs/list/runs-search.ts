import type { Run } from "@presage/sdk";
import { readTableSearch, type TableSearch } from "../../../ui/data-table/table-search.ts";

export const statuses = [
  "queued",
  "running",
  "paused",
  "finished",
  "cancelled",
  "failed",
] as const satisfies Run["status"][];
export const modes = ["teacher-forced", "free-running"] as const satisfies Run["mode"][];

/** The search parameters of the list of runs. */
export interface RunsSearch extends TableSearch {
  /** In the name, the target or a tag. */
  q?: string;
  status?: Run["status"];
  mode?: Run["mode"];
  /** A dataset's id. */
  dataset?: string;
  /** The ids of chosen runs, separated by commas. */
  selected?: string;
}

/** Reads the URL; invalid values are ignored. */
export function readRunsSearch(search: Record<string, unknown>): RunsSearch {
  const status = statuses.find((known) => known === search.status);
  const mode = modes.find((known) => known === search.mode);
  // “q=404” is parsed as a number, “q=true” as a boolean.
  const q = ["string", "number", "boolean"].includes(typeof search.q) ? String(search.q) : "";
  return {
    ...readTableSearch(search),
    ...(q !== "" && { q }),
    ...(status !== undefined && { status }),
    ...(mode !== undefined && { mode }),
    ...(isText(search.dataset) && { dataset: search.dataset }),
    ...(isText(search.selected) && { selected: search.selected }),
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
