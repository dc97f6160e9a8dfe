import { useQuery } from "@tanstack/react-query";
import { type Facet, resultValuesQuery } from "../../../data/evaluation/result-values.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { formatCount } from "../../../format/format-number.ts";
import type { ResultsSearch } from "../../../parts/results-search.ts";
import { toResultFilter } from "../explorer-filter.ts";

interface FilterOption {
  value: string;
  /** With the number of results that the choice would leave. */
  label: string;
}

/** The values that results have, and always the one that is chosen. */
export function useFilterOptions(
  search: ResultsSearch,
  facet: Facet,
  chosen: string | undefined,
): FilterOption[] {
  const presage = usePresage();
  const { data: values = [] } = useQuery(resultValuesQuery(presage, toResultFilter(search), facet));
  const options = values.map(({ value, count }) => ({
    value,
    label: count === undefined ? value : `${value} · ${formatCount(count)}`,
  }));
  const isListed = chosen === undefined || values.some(({ value }) => value === chosen);
  return isListed ? options : [{ value: chosen, label: chosen }, ...options];
}
