import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { resultCountQuery } from "../../data/evaluation/evaluation-results.ts";
import { usePresage } from "../../data/use-presage.ts";
import type { Cause } from "../../format/describe-cause.ts";
import { changeSearch, type ResultsSearch } from "../../parts/results-search.ts";
import { toResultFilter } from "./explorer-filter.ts";

/** How many matching evaluations are without a verdict, and why. */
export function useWithoutVerdict(search: ResultsSearch): { total: number; causes: [Cause, number][] } {
  const presage = usePresage();
  const { data: all } = useQuery({
    ...resultCountQuery(presage, toResultFilter(search)),
    placeholderData: keepPreviousData,
  });
  const total = search.verdict === undefined ? (all?.failed ?? 0) : 0;
  const { data: errors } = useQuery({
    ...resultCountQuery(presage, toResultFilter(changeSearch(search, { verdict: "error" }))),
    enabled: total > 0,
  });
  const { data: contradictory } = useQuery({
    ...resultCountQuery(presage, toResultFilter(changeSearch(search, { verdict: "contradictory" }))),
    enabled: total > 0,
  });
  if (errors === undefined || contradictory === undefined) return { total, causes: [] };
  const causes: [Cause, number][] = [
    ["error", errors.count],
    ["contradictory", contradictory.count],
    ["unusable-input", total - errors.count - contradictory.count],
  ];
  return { total, causes: causes.filter(([, count]) => count > 0) };
}
