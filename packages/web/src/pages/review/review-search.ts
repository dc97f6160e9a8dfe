import type { ResultFilter } from "@presage/sdk";
import { readResultsSearch } from "../../parts/results-search.ts";

/** The review's search parameters. */
export interface ReviewSearch {
  /** An evaluator's id. */
  evaluator?: string;
  /** A profile's name, of imported results. */
  profile?: string;
  /** A profile's public id. */
  profile_id?: string;
  revision?: number;
  run?: string;
  app?: string;
  /** Absent: least certain first. */
  order?: "random";
  /** Hides the evaluator's verdict until the person has decided. */
  blind?: true;
  /** The result that is open. */
  result?: string;
}

/** Reads the URL; invalid values are ignored. */
export function readReviewSearch(search: Record<string, unknown>): ReviewSearch {
  const { evaluator, profile, profile_id, revision, run, app, result } = readResultsSearch(search);
  return {
    ...(evaluator !== undefined && { evaluator }),
    ...(profile !== undefined && { profile }),
    ...(profile_id !== undefined && { profile_id }),
    ...(revision !== undefined && { revision }),
    ...(run !== undefined && { run }),
    ...(app !== undefined && { app }),
    ...(search.order === "random" && { order: "random" as const }),
    ...(search.blind === true && { blind: true as const }),
    ...(result !== undefined && { result }),
  };
}

/** The URL's filters as a request. */
export function toReviewFilter({
  evaluator,
  profile,
  profile_id,
  revision,
  run,
  app,
}: ReviewSearch): ResultFilter {
  const filter: ResultFilter = {
    evaluator_id: evaluator,
    profile_name: profile,
    evaluator_profile_public_id: profile_id,
    evaluator_profile_revision: revision,
    evaluation_run_id: run,
    app,
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}
