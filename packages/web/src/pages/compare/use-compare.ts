import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { present } from "../../search-params.ts";
import { type CompareSearch, readRunIds } from "./compare-search.ts";

const route = getRouteApi("/compare");

type Changes = { [Name in keyof CompareSearch]?: CompareSearch[Name] | undefined };

export interface CompareState {
  search: CompareSearch;
  runIds: string[];
  /** Writes changes to the URL; undefined removes a value. */
  change(changes: Changes, options?: { replace?: boolean }): void;
  /** Compares other runs. What was open belongs to the ones before. */
  choose(runIds: readonly string[]): void;
}

export function useCompare(): CompareState {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/compare" });
  const change: CompareState["change"] = (changes, { replace = false } = {}) => {
    navigate({ search: (current) => present({ ...current, ...changes }), replace, resetScroll: false });
  };
  return {
    search,
    runIds: readRunIds(search.runs),
    change,
    choose: (runIds) =>
      change({ runs: runIds.length === 0 ? undefined : runIds.join(","), with: undefined, open: undefined }),
  };
}
