import type { ExportRequest, ResultFilter } from "@presage/sdk";
import { exactTime } from "../../format/times.ts";
import {
  explainLabels,
  type ResultsSearch,
  type ResultsSearchChanges,
  type Verdict,
  verdictLabels,
} from "../../parts/results/results-search.ts";
import { present } from "../../search-params.ts";

const verdictFilters: Record<Verdict, Pick<ResultFilter, "pass" | "status">> = {
  pass: { pass: true },
  fail: { pass: false },
  error: { status: "failed" },
  "unusable-input": { status: "validation_error" },
  contradictory: { status: "contradictory" },
  "not-applicable": { status: "not_applicable" },
};

/** The URL's filters as a request. Absent values are left out, so that equal filters have equal query keys. */
export function toResultFilter(search: ResultsSearch): ResultFilter {
  return present({
    ...(search.verdict && verdictFilters[search.verdict]),
    app: search.app,
    evaluator_id: search.evaluator,
    evaluator_family: search.family,
    profile_name: search.profile,
    evaluator_profile_public_id: search.profile_id,
    evaluator_profile_revision: search.revision,
    score_raw_min: search.min_score,
    score_raw_max: search.max_score,
    tags: search.tag && Object.fromEntries(search.tag.map(splitTag)),
    dataset_id: search.dataset,
    dataset_sample_id: search.sample,
    evaluation_run_id: search.run,
    has_run: search.direct && false,
    explain_strategy: search.explain,
    after_datetime: search.since,
    before_datetime: search.until,
    after_id: search.after,
    before_id: search.before,
  });
}

/** A tag's name ends at the first `=`; its value may contain more. */
function splitTag(tag: string): [name: string, value: string] {
  const end = tag.indexOf("=");
  return [tag.slice(0, end), tag.slice(end + 1)];
}

export function toResultOrder({ order }: ResultsSearch): NonNullable<ExportRequest["order"]> {
  return order === "oldest" ? "created_at" : "-created_at";
}

/** The URL that downloads all matching results. */
export function exportAddress(search: ResultsSearch, format: NonNullable<ExportRequest["format"]>): string {
  const { tags, ...rest } = toResultFilter(search);
  const query = new URLSearchParams({ format, order: toResultOrder(search) });
  for (const [name, value] of Object.entries(rest)) query.set(name, String(value));
  if (tags) query.set("tags", JSON.stringify(tags));
  return `/v1/evaluation-results/export?${query}`;
}

/** A filter in words, and the change that removes it. */
export interface ActiveFilter {
  key: string;
  name: string;
  value: string;
  removal: ResultsSearchChanges;
}

/** The active filters in words. The order and the open result are not filters. */
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

/** The tags without one of them; undefined if none is left. */
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
