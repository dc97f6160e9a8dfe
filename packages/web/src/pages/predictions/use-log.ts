import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { filterNames, type PredictionsSearch } from "../../parts/predictions.ts";

const route = getRouteApi("/predictions");

export type LogChanges = { [Name in keyof PredictionsSearch]?: PredictionsSearch[Name] | undefined };

export interface PredictionLog {
  search: PredictionsSearch;
  isFiltered: boolean;
  /** Writes changes to the URL; undefined removes a value. */
  change(changes: LogChanges, options?: { replace?: boolean }): void;
}

export function useLog(): PredictionLog {
  const search = route.useSearch();
  const navigate = useNavigate({ from: "/predictions" });
  return {
    search,
    isFiltered: filterNames.some((name) => search[name] !== undefined),
    change(changes, { replace = false } = {}) {
      navigate({
        search: (current) => changeLogSearch(current, changes),
        replace,
        resetScroll: false,
      });
    },
  };
}

export function changeLogSearch(search: PredictionsSearch, changes: LogChanges): PredictionsSearch {
  const present = Object.entries({ ...search, ...changes }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present);
}

export const noFilters: LogChanges = Object.fromEntries(filterNames.map((name) => [name, undefined]));
