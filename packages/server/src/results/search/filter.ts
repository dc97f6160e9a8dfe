import type { EvaluationStatus, ExplainStrategy } from "@presage/contract";
import { type Micros, sampleKey } from "../../platform/storage/columns.ts";
import type { EvaluationResultsTable } from "../../platform/storage/schema/results.ts";
import { toThousandths } from "../result.ts";

/** The part of a filter whose index a search scans. What the scan finds is checked against the other parts. */
export type AccessPath =
  | { by: "account" }
  | { by: "status"; status: EvaluationStatus }
  | ({ by: "column" } & ColumnMatch)
  | { by: "samples"; keys: readonly string[] }
  | { by: "tag"; name: string; value: string }
  | { by: "explanation"; isExplained: boolean }
  | { by: "score"; groups: readonly ScoreGroup[] };

/** A part of a filter that is an equality. */
export interface ColumnMatch {
  column: keyof EvaluationResultsTable;
  value: string | number;
}

/** The equalities of a filter, the usually rarest first. */
export function columnMatches(filter: Omit<SearchFilter, "status">): ColumnMatch[] {
  const matches: [ColumnMatch["column"], ColumnMatch["value"] | undefined][] = [
    ["sample_key", filter.datasetSampleId === undefined ? undefined : sampleKey(filter.datasetSampleId)],
    ["run_id", filter.runId],
    ["experiment_id", filter.experimentId],
    ["project_id", filter.projectId],
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

/** All access paths of a filter, the usually rarest first; a score takes many scans and comes last. */
export function accessPathsOf(filter: SearchFilter): [AccessPath, ...AccessPath[]] {
  const tags = Object.entries(filter.tags ?? {}).map(([name, value]) => ({
    by: "tag" as const,
    name,
    value,
  }));
  const { status } = filter;
  // The indexes of the columns contain successes only.
  if (status !== "success") return [{ by: "status", status }, ...tags];
  const hasScore = filter.minScore !== undefined || filter.maxScore !== undefined;
  const { isExplained, datasetSampleIds: samples } = filter;
  const [first, ...rest]: AccessPath[] = [
    ...tags,
    ...(samples === undefined ? [] : [{ by: "samples" as const, keys: samples.map(sampleKey) }]),
    ...columnMatches(filter).map((match) => ({ by: "column" as const, ...match })),
    ...(isExplained === undefined ? [] : [{ by: "explanation" as const, isExplained }]),
    ...(hasScore ? [{ by: "score" as const, groups: scoreGroups(filter.minScore, filter.maxScore) }] : []),
  ];
  return first === undefined ? [{ by: "account" }] : [first, ...rest];
}

/** Results that are all explained, or all not: their strategy says so, and for some also the evaluator's verdict. */
export interface ExplanationGroup {
  strategy: ExplainStrategy;
  /** Any verdict if undefined. */
  pass: boolean | undefined;
}

export function explanationGroups(isExplained: boolean): ExplanationGroup[] {
  return [
    { strategy: isExplained ? "always" : "never", pass: undefined },
    { strategy: "on-fail", pass: !isExplained },
    { strategy: "on-success", pass: isExplained },
  ];
}

/** The second index of scores has them in steps of this many thousandths (migration 004). */
export const thousandthsPerStep = 40;
const lastStep = Math.floor(1000 / thousandthsPerStep);

/** Results whose score is one thousandth, or in one step of thousandths. */
export interface ScoreGroup {
  unit: "thousandth" | "step";
  value: number;
  /** True if the group also has scores beyond the bounds, so that each score has to be checked. */
  isCut: boolean;
}

/**
 * A range of scores as groups of equal keys: whole steps in the middle, and single thousandths towards bounds that lie inside a step.
 * In its index each group is in the order of ids, which a range of scores is not.
 */
export function scoreGroups(minScore: number | undefined, maxScore: number | undefined): ScoreGroup[] {
  const isBoundBelow = minScore !== undefined && minScore > 0;
  const isBoundAbove = maxScore !== undefined && maxScore < 1;
  const from = isBoundBelow ? toThousandths(minScore) : 0;
  const to = isBoundAbove ? toThousandths(maxScore) : 1000;
  if (from > to || from > 1000 || to < 0) return [];

  const groups: ScoreGroup[] = [];
  let next = from;
  while (next <= to) {
    const isEdge = (isBoundBelow && next === from) || (isBoundAbove && next === to);
    const step = Math.floor(next / thousandthsPerStep);
    const isStepWhole = step === lastStep || next + thousandthsPerStep - 1 < to;
    if (!isEdge && next % thousandthsPerStep === 0 && isStepWhole) {
      groups.push({ unit: "step", value: step, isCut: false });
      next += thousandthsPerStep;
    } else {
      groups.push({ unit: "thousandth", value: next, isCut: isEdge });
      next += 1;
    }
  }
  return groups;
}

/** All given filters must match. */
export interface ResultFilter {
  app?: string | undefined;
  projectId?: string | undefined;
  experimentId?: string | undefined;
  evaluatorId?: string | undefined;
  /** True: only imported results. */
  isExternal?: true | undefined;
  /** Any status if absent. */
  status?: EvaluationStatus | undefined;
  evaluatorFamily?: string | undefined;
  profileName?: string | undefined;
  profilePublicId?: string | undefined;
  profileRevision?: number | undefined;
  datasetId?: string | undefined;
  /** A number and the text of its digits are the same sample. */
  datasetSampleId?: number | string | undefined;
  runId?: string | undefined;
  /** Only results of runs, or only those that belong to none. */
  hasRun?: boolean | undefined;
  explainStrategy?: ExplainStrategy | undefined;
  /** Only results with an explanation, or only those without one. */
  isExplained?: boolean | undefined;
  /** All of them must match. */
  tags?: Readonly<Record<string, string>> | undefined;
  /** This and the score's bounds apply to the verdict that counts: the latest correction's, otherwise the evaluator's. */
  pass?: boolean | undefined;
  minScore?: number | undefined;
  maxScore?: number | undefined;
  /** Only results from after this time. */
  createdAfter?: Micros | undefined;
  /** Only results from before this time. */
  createdBefore?: Micros | undefined;
  /** Only greater ids. */
  afterId?: number | undefined;
  /** Only smaller ids. */
  beforeId?: number | undefined;
}

/** A filter of one status. Results without a verdict are found only by their status. */
export interface SearchFilter extends ResultFilter {
  status: EvaluationStatus;
  /** Any of these samples. */
  datasetSampleIds?: readonly (number | string)[] | undefined;
}

export type TimeOrder = "newest-first" | "oldest-first";

/** By the ids of their samples, or by their scores, then by their own ids. Results without a sample or a score are left out. */
export type ColumnOrder =
  | "first-sample-first"
  | "last-sample-first"
  | "lowest-score-first"
  | "highest-score-first";

export interface SearchPage<Order = TimeOrder> {
  order: Order;
  limit: number;
  /** Longer texts are cut to this length; none is cut if absent. */
  maxTextCharacters?: number | undefined;
}

/** What a summary can be grouped by. */
export type Dimension = "evaluator" | "profile" | "app" | "tag" | "day" | "run";

/** The columns of each dimension. */
export const columnsOf = {
  evaluator: ["evaluator_id", "evaluator_family"],
  profile: ["profile_name", "profile_public_id", "profile_revision"],
  app: ["app"],
  tag: ["tag"],
  day: ["day"],
  run: ["run_id"],
} as const satisfies Record<Dimension, readonly (keyof GroupKey)[]>;

/** What the results of a group have in common: the columns of the requested dimensions. */
export interface GroupKey {
  evaluator_id?: string;
  /** Here and below, an empty text or 0 stands for none. */
  evaluator_family?: string;
  profile_name?: string;
  profile_public_id?: string;
  profile_revision?: number;
  app?: string;
  run_id?: string;
  /** Days since 1970-01-01 UTC. */
  day?: number;
  /** Null for results without the tag. */
  tag?: string | null;
}
