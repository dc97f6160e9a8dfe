import type { ResultFilter } from "@presage/sdk";
import { type ResultsSearch, readResultsSearch } from "../../parts/results/results-search.ts";
import { present } from "../../search-params.ts";

/** The review's search parameters. */
export interface ReviewSearch
  extends Pick<
    ResultsSearch,
    "evaluator" | "profile" | "profile_id" | "revision" | "run" | "app" | "result"
  > {
  /** The id of a draw from `run`; absent: disputed or uncertain results. */
  drawn?: string;
}

/** Reads the URL; invalid values are ignored. */
export function readReviewSearch(search: Record<string, unknown>): ReviewSearch {
  const { evaluator, profile, profile_id, revision, run, app, result } = readResultsSearch(search);
  return present({
    evaluator,
    profile,
    profile_id,
    revision,
    run,
    app,
    drawn: run !== undefined && typeof search.drawn === "string" ? search.drawn : undefined,
    result,
  });
}

/** The URL's filters as a request. */
export function toReviewFilter(search: ReviewSearch): ResultFilter {
  return present({
    evaluator_id: search.evaluator,
    profile_name: search.profile,
    evaluator_profile_public_id: search.profile_id,
    evaluator_profile_revision: search.revision,
    evaluation_run_id: search.run,
    app: search.app,
  });
}
