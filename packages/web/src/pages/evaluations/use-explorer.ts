import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { changeSearch, type ExplorerSearch } from "./explorer-search.ts";

const route = getRouteApi("/evaluations");

export type ExplorerChanges = Parameters<typeof changeSearch>[1];

export interface Explorer {
  search: ExplorerSearch;
  /** Writes changes to the URL; undefined removes a value. */
  change(changes: ExplorerChanges, options?: { replace?: boolean }): void;
}

export function useExplorer(): Explorer {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/evaluations" });
  return {
    search,
    change(changes, { replace = false } = {}) {
      navigate({ search: (current) => changeSearch(current, changes), replace, resetScroll: false });
    },
  };
}
