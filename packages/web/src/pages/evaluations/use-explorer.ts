import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { changeSearch, type Filtering } from "../../parts/results-search.ts";

const route = getRouteApi("/evaluations");

export function useFiltering(): Filtering {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/evaluations" });
  return {
    search,
    change(changes, { replace = false } = {}) {
      navigate({ search: (current) => changeSearch(current, changes), replace, resetScroll: false });
    },
  };
}
