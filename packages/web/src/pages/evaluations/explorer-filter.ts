import type { ExportRequest, ResultFilter } from "@presage/sdk";
import type { ResultsSearch, Verdict } from "../../parts/results-search.ts";

const verdictFilters: Record<Verdict, Pick<ResultFilter, "pass" | "status">> = {
  pass: { pass: true },
  fail: { pass: false },
  error: { status: "failed" },
  "unusable-input": { status: "validation_error" },
  contradictory: { status: "contradictory" },
  "not-applicable": { status: "not_applicable" },
};

/** The URL's filters as a request. Absent values are dropped, so that equal filters have equal query keys. */
export function toResultFilter(search: ResultsSearch): ResultFilter {
  const filter: ResultFilter = {
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
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}

export function toResultOrder({ order }: ResultsSearch): NonNullable<ExportRequest["order"]> {
  return order === "oldest" ? "created_at" : "-created_at";
}

/** A tag's name ends at the first `=`; its value may contain more. */
function splitTag(tag: string): [name: string, value: string] {
  const end = tag.indexOf("=");
  return [tag.slice(0, end), tag.slice(end + 1)];
}

/** The URL that downloads all matching results. */
export function exportAddress(search: ResultsSearch, format: NonNullable<ExportRequest["format"]>): string {
  const { tags, ...rest } = toResultFilter(search);
  const query = new URLSearchParams({ format, order: toResultOrder(search) });
  for (const [name, value] of Object.entries(rest)) query.set(name, String(value));
  if (tags) query.set("tags", JSON.stringify(tags));
  return `/v1/evaluation-results/export?${query}`;
}
