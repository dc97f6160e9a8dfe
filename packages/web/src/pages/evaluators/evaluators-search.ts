import { type PeriodSearch, readPeriodSearch } from "../../format/times.ts";
import { readTableSearch, type TableSearch } from "../../ui/data-table/table-search.ts";

export interface EvaluatorsSearch extends PeriodSearch, TableSearch {
  q?: string;
  /** Shows archived profiles too. */
  archived?: true;
}

export function readEvaluatorsSearch(search: Record<string, unknown>): EvaluatorsSearch {
  const { q, archived } = search;
  return {
    ...readPeriodSearch(search),
    ...readTableSearch(search),
    // “q=404” is parsed as a number, “q=true” as a boolean.
    ...(["string", "number", "boolean"].includes(typeof q) && q !== "" && { q: String(q) }),
    ...(archived === true && { archived }),
  };
}
