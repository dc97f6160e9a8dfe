import type { SearchResult, Timing } from "./measure-search.ts";
import { summariesOfTheGoals } from "./search-filters.ts";

export const ratioBetween = (
  { medianMs }: Timing,
  size: number,
  smallest: number | undefined,
): number | undefined => {
  const large = medianMs.get(size);
  const small = smallest === undefined ? undefined : medianMs.get(smallest);
  return large === undefined || small === undefined ? undefined : large / small;
};

/** The filter whose page slows down most between the smallest size and this one. */
export const worstPage = (
  { pages, sizes }: SearchResult,
  size: number,
): { readonly name: string; readonly ratio: number } | undefined =>
  pages
    .map((page) => ({ name: page.name, ratio: ratioBetween(page, size, sizes[0]) ?? Number.NaN }))
    .toSorted((left, right) => right.ratio - left.ratio)[0];

/** Also undefined if it did not come from the rollup alone. */
export const summaryMs = (
  { summaries }: SearchResult,
  size: number,
  goal: keyof typeof summariesOfTheGoals,
): number | undefined => {
  const summary = summaries.find(({ name }) => name === summariesOfTheGoals[goal]);
  return summary?.returned.includes("results") ? undefined : summary?.medianMs.get(size);
};
