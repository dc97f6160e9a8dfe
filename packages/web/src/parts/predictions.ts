import type { RunReport, StoredPrediction, StoredPredictionFilter } from "@presage/sdk";
import { periods, startOf } from "../format/times.ts";
import { instantOf, present, readText } from "../search-params.ts";
import { readTableSearch } from "../ui/data-table/table-view.ts";

export const sources = ["live", "run", "episode"] as const satisfies StoredPrediction["source"][];
export const statuses = ["success", "failed"] as const satisfies StoredPrediction["status"][];
export const categories = [
  "context_exceeded",
  "rate_limit",
  "upstream",
  "unusable_completion",
  "unavailable",
  "timeout",
  "missing",
  "error",
  "skipped",
  "not_reached",
] as const satisfies NonNullable<StoredPrediction["error_category"]>[];

/** The cost of 1,000 of a run's predictions, as in the list of runs. Undefined if the price of some is not known. */
export function costOf1000({ cost, failures, run }: RunReport): number | undefined {
  if (cost?.total == null || cost.unpriced_tokens > 0) return undefined;
  // Failed predictions were requested too, except for two kinds of failure.
  const { missing = 0, not_reached = 0, ...failed } = failures.predictions;
  const asked = Object.values(failed).reduce((sum, count) => sum + count, run.progress.predicted);
  return asked === 0 ? undefined : (1000 * cost.total) / asked;
}

/** The parameters that filter predictions. */
export const filterNames = [
  "source",
  "status",
  "category",
  "deployment",
  "model",
  "key",
  "run",
  "request",
  "period",
  "until",
] as const satisfies (keyof PredictionsSearch)[];

export type PredictionsSearch = ReturnType<typeof readPredictionsSearch>;

/** Reads the URL of the log of predictions; invalid values are ignored. */
export function readPredictionsSearch(search: Record<string, unknown>) {
  return present({
    ...readTableSearch(search),
    source: sources.find((known) => known === search.source),
    status: statuses.find((known) => known === search.status),
    category: categories.find((known) => known === search.category),
    deployment: readText(search.deployment),
    model: readText(search.model),
    /** An API key's id. */
    key: readText(search.key),
    run: readText(search.run),
    request: readText(search.request),
    /** Absent: all that are stored. */
    period: periods.find((known) => known === search.period),
    /** Only predictions before this time. */
    until: instantOf(search.until),
    /** Absent: newest first. */
    order: search.order === "oldest" ? ("oldest" as const) : undefined,
    /** The prediction that is open. */
    open: readText(search.open),
  });
}

/** The search parameters as a filter of the API. */
export function toPredictionFilter(search: PredictionsSearch, nowMs: number): StoredPredictionFilter {
  const { source, status, category, deployment, model, key, run, request, period, until } = search;
  return present({
    source,
    status,
    category,
    deployment,
    model,
    api_key_id: key,
    run_id: run,
    request_id: request,
    to: until,
    from: period && startOf(period, nowMs),
  });
}

/** A command that requests a prediction from this server, with the key in PRESAGE_API_KEY. */
export function firstPrediction(): string {
  const body = JSON.stringify({
    interaction: { state: "You are in the kitchen. The fridge is closed.", action: "open fridge" },
  });
  return [
    `curl ${location.origin}/v1/predict \\`,
    `  -H "X-API-KEY: $PRESAGE_API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${body}'`,
  ].join("\n");
}
