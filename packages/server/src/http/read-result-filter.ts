import {
  EvaluationResultExportQuery,
  EvaluationResultFilter,
  isTrueWord,
  type ValidationError,
} from "@presage/contract";
import type { Page, ResultFilter, SearchFilter } from "../evaluation/results/result-filter.ts";
import { type NoteOldName, readProfileName } from "./deprecations.ts";
import { readInstant } from "./read-instant.ts";
import { ValidationFailure, validate } from "./validation.ts";

/** The id behind an alias of an evaluator. What is neither is an evaluator from elsewhere. */
export type ResolveEvaluatorId = (idOrAlias: string) => string;

type FilterFields = Omit<EvaluationResultFilter, "status">;

/** Which results a request speaks of, whatever their status. Nulls are as good as absent. */
export function readResultFilter(
  fields: FilterFields,
  resolveEvaluatorId: ResolveEvaluatorId,
  note: NoteOldName,
): ResultFilter {
  const evaluatorId = given(fields.evaluator_id);
  return {
    app: given(fields.app),
    evaluatorId: evaluatorId === undefined ? undefined : resolveEvaluatorId(evaluatorId),
    evaluatorFamily: given(fields.evaluator_family),
    profileName: readProfileName(fields, note),
    profilePublicId: given(fields.evaluator_profile_public_id)?.toLowerCase(),
    datasetId: given(fields.dataset_id),
    runId: given(fields.evaluation_run_id),
    explainStrategy: given(fields.explain_strategy),
    tags: given(fields.tags),
    pass: given(fields.pass),
    minScore: given(fields.score_raw_min),
    maxScore: given(fields.score_raw_max),
    createdAfter: instantOf(fields.after_datetime),
    createdBefore: instantOf(fields.before_datetime),
    afterId: idOf(fields.after_id),
    beforeId: idOf(fields.before_id),
  };
}

/** Which results a search speaks of: successes, unless it says otherwise. */
export function readSearchFilter(
  fields: EvaluationResultFilter,
  resolveEvaluatorId: ResolveEvaluatorId,
  note: NoteOldName,
): SearchFilter {
  return { ...readResultFilter(fields, resolveEvaluatorId, note), status: fields.status ?? "success" };
}

export function readOrder(order: "-created_at" | "created_at" | null | undefined): Page["order"] {
  return order === "created_at" ? "oldest-first" : "newest-first";
}

/** The query of an export, in the types of a search. */
export function readExportQuery(given: Record<string, string>) {
  const query = validate(EvaluationResultExportQuery, given, "query");
  const { tags, pass, score_raw_min, score_raw_max, order, format, ...names } = query;
  const filter: EvaluationResultFilter = {
    ...names,
    ...(tags === undefined ? {} : { tags: readTags(tags) }),
    ...(pass === undefined ? {} : { pass: isTrueWord(pass) }),
    ...(score_raw_min === undefined ? {} : { score_raw_min: Number(score_raw_min) }),
    ...(score_raw_max === undefined ? {} : { score_raw_max: Number(score_raw_max) }),
  };
  return { filter, order: readOrder(order), format: format ?? "jsonl" };
}

function readTags(text: string): EvaluationResultFilter["tags"] {
  try {
    const parsed = EvaluationResultFilter.shape.tags.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data;
  } catch {
    // Refused below.
  }
  const msg = "Value error, Input should be a JSON object of texts";
  const fault: ValidationError = { type: "value_error", loc: ["query", "tags"], msg, input: text };
  throw new ValidationFailure([fault]);
}

function given<Value>(value: Value | null | undefined): Value | undefined {
  return value ?? undefined;
}

function instantOf(text: string | null | undefined): number | undefined {
  return text ? readInstant(text) : undefined;
}

function idOf(id: number | string | null | undefined): number | undefined {
  return id === null || id === undefined ? undefined : Number(id);
}
