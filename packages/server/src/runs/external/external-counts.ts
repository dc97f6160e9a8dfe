import { LRUCache } from "lru-cache";
import type { EvaluatorNames } from "../run.ts";
import { evaluatorNamesOf } from "./evaluator-names-of.ts";
import type { ResultCountsRow } from "./external-results-store.ts";

/** What has been counted of external runs, by their ids. Results are only added, so the next request counts only those added since. */
export interface ExternalCounts extends CountingLimits {
  kept: LRUCache<string, CountedResults>;
}

export interface CountingLimits {
  /** How many results a statement counts at most of each kind. */
  resultsAtATime: number;
  /** After this time a request shows what is counted so far; the next one continues. */
  maxCountingMs: number;
}

export interface CountedResults {
  /** All results up to this number are counted. */
  upTo: number;
  evaluators: CountedEvaluators;
}

/** By their names as JSON. */
export type CountedEvaluators = ReadonlyMap<string, EvaluatorCounts>;

export interface EvaluatorCounts extends Pick<ResultCountsRow, "results" | "with_pass" | "with_score"> {
  names: EvaluatorNames;
}

export const nothingCounted: CountedResults = { upTo: 0, evaluators: new Map() };

/** As many as a page of runs has. */
const maxRuns = 1_000;
/** Clients name evaluators as they like. More are kept than listed, so that one whose results arrive late is not dropped each time. */
const maxEvaluators = 1_000;
/** Of the names of all evaluators of all runs. */
const maxCharacters = 20_000_000;
/** A map's entry, its numbers and the same names as an object, beside the text. */
const charactersPerEvaluator = 200;
/** Deleted results are noticed after this time. */
const recountAfterMs = 10 * 60_000;

/** The slowest statement stays far below the database's time limit, and lists are never slow. */
const defaults: CountingLimits = { resultsAtATime: 100_000, maxCountingMs: 2_000 };

/** A process's. */
export function createExternalCounts(limits = defaults): ExternalCounts {
  return {
    ...limits,
    kept: new LRUCache({
      max: maxRuns,
      ttl: recountAfterMs,
      maxSize: maxCharacters,
      sizeCalculation: ({ evaluators }) =>
        evaluators.keys().reduce((sum, key) => sum + 2 * key.length + charactersPerEvaluator, 1),
    }),
  };
}

/** Adds rows to what is known. */
export function addUp(known: CountedEvaluators, rows: readonly ResultCountsRow[]): CountedEvaluators {
  return merge(
    known,
    rows.map((row) => ({ ...row, names: evaluatorNamesOf(row) })),
  );
}

/** Of more evaluators than are kept, those with the most results stay. */
export function merge(known: CountedEvaluators, added: readonly EvaluatorCounts[]): CountedEvaluators {
  if (added.length === 0) return known;
  const all = new Map(known);
  for (const { names, results, with_pass, with_score } of added) {
    const key = JSON.stringify(names);
    const before = all.get(key);
    all.set(key, {
      names,
      results: results + (before?.results ?? 0),
      with_pass: with_pass + (before?.with_pass ?? 0),
      with_score: with_score + (before?.with_score ?? 0),
    });
  }
  return withMostResults(all, maxEvaluators);
}

export function withMostResults(evaluators: CountedEvaluators, most: number): CountedEvaluators {
  if (evaluators.size <= most) return evaluators;
  const sorted = [...evaluators].sort(
    ([a, one], [b, other]) => other.results - one.results || (a < b ? -1 : 1),
  );
  return new Map(sorted.slice(0, most));
}
