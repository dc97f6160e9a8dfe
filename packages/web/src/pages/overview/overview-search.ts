import { type PeriodSearch, readPeriodSearch } from "../../format/times.ts";

/** The overview's search parameters. */
export interface OverviewSearch extends PeriodSearch {
  /** The id of the rate shown by day. Absent: that with the most verdicts. */
  rate?: string;
}

/** Reads the URL; invalid values are ignored. */
export function readOverviewSearch(search: Record<string, unknown>): OverviewSearch {
  const { rate } = search;
  return {
    ...readPeriodSearch(search),
    ...(typeof rate === "string" && rate !== "" && { rate }),
  };
}
