import type { EvaluationStatus } from "@presage/contract";
import type { EvaluationResultsTable } from "../../../storage/schema/evaluation-results.ts";
import { type ScoreRun, scoreRuns } from "../summary/score-runs.ts";
import type { SearchFilter } from "./result-filter.ts";

/** The one part of a filter whose index a search walks. What it finds is held against the other parts. */
export type Lead =
  | { by: "account" }
  | { by: "status"; status: EvaluationStatus }
  | ({ by: "column" } & ColumnMatch)
  | { by: "tag"; name: string; value: string }
  | { by: "score"; runs: readonly ScoreRun[] };

/** A part of a filter that is an equality. */
export interface ColumnMatch {
  column: keyof EvaluationResultsTable;
  value: string | number;
}

/** The equalities of a filter, beginning with what is usually rarest. */
export function columnMatches(filter: Omit<SearchFilter, "status">): ColumnMatch[] {
  const matches: [ColumnMatch["column"], ColumnMatch["value"] | undefined][] = [
    ["run_id", filter.runId],
    ["dataset_id", filter.datasetId],
    ["profile_public_id", filter.profilePublicId],
    ["profile_name", filter.profileName],
    ["evaluator_id", filter.evaluatorId],
    ["app", filter.app],
    ["evaluator_family", filter.evaluatorFamily],
    ["explain_strategy", filter.explainStrategy],
    ["counted_pass", filter.pass === undefined ? undefined : Number(filter.pass)],
  ];
  return matches.flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]));
}

/** Whatever may lead a search, beginning with what is usually rarest; a score is many walks at once and comes last. */
export function possibleLeads(filter: SearchFilter): [Lead, ...Lead[]] {
  const tags = Object.entries(filter.tags ?? {}).map(([name, value]) => ({
    by: "tag" as const,
    name,
    value,
  }));
  const { status } = filter;
  // The indexes of the columns hold successes only.
  if (status !== "success") return [{ by: "status", status }, ...tags];
  const hasScore = filter.minScore !== undefined || filter.maxScore !== undefined;
  const leads: Lead[] = [
    ...tags,
    ...columnMatches(filter).map((match) => ({ by: "column" as const, ...match })),
    ...(hasScore ? [{ by: "score" as const, runs: scoreRuns(filter.minScore, filter.maxScore) }] : []),
  ];
  const [first, ...rest] = leads;
  return first === undefined ? [{ by: "account" }] : [first, ...rest];
}
