import { exactTime } from "../../../format/format-time.ts";
import type { ResultsSearch } from "../../../parts/results-search.ts";
import { explainLabels, type ResultsSearchChanges, verdictLabels } from "../../../parts/results-search.ts";

/** A filter in words, and the change that removes it. */
export interface ActiveFilter {
  key: string;
  name: string;
  value: string;
  removal: ResultsSearchChanges;
}

/** The active filters in words. The order and the open result do not count. */
export function activeFilters(search: ResultsSearch): ActiveFilter[] {
  const { verdict, explain, since, until, min_score, max_score } = search;
  const found: (ActiveFilter | undefined)[] = [
    filterOf("verdict", "Verdict", verdict && verdictLabels[verdict]),
    filterOf("app", "App", search.app),
    filterOf("evaluator", "Evaluator", search.evaluator),
    filterOf("family", "Family", search.family),
    filterOf("profile", "Profile", search.profile),
    filterOf("profile_id", "Profile ID", search.profile_id),
    filterOf("revision", "Revision", search.revision?.toString()),
    filterOf("min_score", "Score at least", min_score?.toString()),
    filterOf("max_score", "Score at most", max_score?.toString()),
    ...(search.tag ?? []).map((tag) => ({
      key: `tag ${tag}`,
      name: "Tag",
      value: tag,
      removal: { tag: withoutTag(search.tag, tag) },
    })),
    filterOf("dataset", "Dataset", search.dataset),
    filterOf("sample", "Sample", search.sample),
    filterOf("run", "Run", search.run),
    filterOf("direct", "Run", search.direct && "none"),
    filterOf("explain", "Explained", explain && explainLabels[explain]),
    filterOf("since", "Since", since && exactTime(since)),
    filterOf("until", "Until", until && exactTime(until)),
    filterOf("after", "ID above", search.after),
    filterOf("before", "ID below", search.before),
  ];
  return found.filter((filter) => filter !== undefined);
}

/** Undefined if none is left. */
export function withoutTag(tags: readonly string[] | undefined, tag: string): string[] | undefined {
  const left = (tags ?? []).filter((other) => other !== tag);
  return left.length === 0 ? undefined : left;
}

/** The change that removes all filters. */
export function noFilters(search: ResultsSearch): ResultsSearchChanges {
  return Object.assign({}, ...activeFilters(search).map(({ removal }) => removal), { tag: undefined });
}

function filterOf(
  key: keyof ResultsSearch,
  name: string,
  value: string | undefined,
): ActiveFilter | undefined {
  return value === undefined ? undefined : { key, name, value, removal: { [key]: undefined } };
}
