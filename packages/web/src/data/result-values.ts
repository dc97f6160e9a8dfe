import type { EvaluationSummaryGroup, Presage, ResultFilter, SummaryDimension } from "@presage/sdk";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

/** The properties that results can be filtered by and that have counts. */
export type Facet = "app" | "evaluator" | "profile" | "run";

export interface CountedValue {
  value: string;
  /** Undefined if a filter without counts is also active. */
  count: number | undefined;
}

interface FacetSource {
  dimension: SummaryDimension;
  read(key: EvaluationSummaryGroup["key"]): string | null | undefined;
  /** The facet's own filters, which must not hide its other values. */
  own: readonly (keyof ResultFilter)[];
}

const sources: Record<Facet, FacetSource> = {
  app: { dimension: "app", read: ({ app }) => app, own: ["app"] },
  evaluator: {
    dimension: "evaluator",
    read: ({ evaluator_id }) => evaluator_id,
    own: ["evaluator_id"],
  },
  profile: {
    dimension: "profile",
    read: ({ profile_name }) => profile_name,
    own: ["profile_name", "evaluator_profile_public_id", "evaluator_profile_revision"],
  },
  run: {
    dimension: "run",
    read: ({ evaluation_run_id }) => evaluation_run_id,
    own: ["evaluation_run_id"],
  },
};

/** Filters that the server has counts for. Other filters would make it read the results one by one. */
const counted: ReadonlySet<keyof ResultFilter> = new Set([
  "app",
  "evaluator_id",
  "evaluator_family",
  "profile_name",
  "evaluator_profile_public_id",
  "evaluator_profile_revision",
  "evaluation_run_id",
  "pass",
  "status",
  "after_datetime",
  "before_datetime",
]);

const freshMs = 60_000;

/** The values that the matching results have, the most frequent first. */
export function resultValuesQuery(presage: Presage, filter: ResultFilter, facet: Facet) {
  const { dimension, own, read } = sources[facet];
  const { request, isComplete } = toCountable(filter, own);
  return queryOptions({
    queryKey: ["results", "summary", "values", facet, request, isComplete],
    async queryFn({ signal }): Promise<CountedValue[]> {
      const summary = { ...request, group_by: [dimension], intervals: false };
      const { groups } = await presage.results.summarise(summary, { signal });
      return countValues(groups.map(({ key, count }) => ({ value: read(key), count }))).map((counted) =>
        isComplete ? counted : { ...counted, count: undefined },
      );
    },
    staleTime: freshMs,
    placeholderData: keepPreviousData,
  });
}

/** The values of one tag, with how many results have them. */
export function tagValuesQuery(presage: Presage, tag: string) {
  return queryOptions({
    queryKey: ["results", "summary", "tag values", tag],
    async queryFn({ signal }): Promise<CountedValue[]> {
      const summary = { group_by: ["tag" as const], tag, intervals: false };
      const { groups } = await presage.results.summarise(summary, { signal });
      return countValues(groups.map(({ key, count }) => ({ value: key.tag, count })));
    },
    staleTime: freshMs,
  });
}

const maxTags = 1_000;

/** The names of the account's tags, in alphabetical order. */
export function tagNamesQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["results", "tag names"],
    async queryFn({ signal }): Promise<string[]> {
      const tags = await presage.results.listTags({ atMost: maxTags, signal });
      return [...new Set(tags.map(({ key }) => key))];
    },
    staleTime: freshMs,
  });
}

/** The part of a filter that has counts, and whether that is the whole filter. */
export function toCountable(
  filter: ResultFilter,
  own: readonly (keyof ResultFilter)[],
): { request: ResultFilter; isComplete: boolean } {
  const names = Object.keys(filter) as (keyof ResultFilter)[];
  const others = names.filter((name) => !own.includes(name));
  const request = Object.fromEntries(
    others.filter((name) => counted.has(name)).map((name) => [name, filter[name]]),
  );
  const hasVerdict = "pass" in request || "status" in request;
  return {
    // Lists contain results with a verdict, unless a filter says otherwise.
    request: hasVerdict ? request : { ...request, status: "success" },
    isComplete: others.every((name) => counted.has(name)),
  };
}

/** One entry for each value, greatest counts first. */
export function countValues(
  found: readonly { value: string | null | undefined; count: number }[],
): { value: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { value, count } of found) {
    if (value !== null && value !== undefined && value !== "")
      counts.set(value, (counts.get(value) ?? 0) + count);
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((one, other) => other.count - one.count || one.value.localeCompare(other.value));
}
