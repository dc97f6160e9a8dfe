import {
  type EvaluationResultExportQuery,
  EvaluationResultFilter,
  type EvaluationResultSearchRequest,
  isTrueWord,
  readInstant,
  readResultId,
  type ValidationError,
} from "@presage/contract";
import { readEvaluatorName, readProfileName } from "../../evaluators/old-names.ts";
import type { Registry } from "../../evaluators/registry.ts";
import { InvalidRequestError } from "../../http/validate.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import type { ColumnOrder, ResultFilter, SearchFilter, TimeOrder } from "./filter.ts";
import { resolveEvaluatorId } from "./search-results.ts";

/** What reading a filter needs: an alias stands for the newest evaluator. */
export interface FilterServices {
  store: Store;
  registry: Registry;
}

/** The results that a request selects. Null is treated as omitted. */
export async function readResultFilter(
  services: FilterServices,
  requester: Requester,
  fields: EvaluationResultFilter,
): Promise<ResultFilter> {
  const { name, isExternal } = readEvaluatorName(fields.evaluator_id ?? undefined);
  return {
    app: given(fields.app),
    projectId: given(fields.project_id),
    experimentId: given(fields.experiment_id),
    evaluatorId: name && !isExternal ? await resolveEvaluatorId(services, requester, name) : name,
    isExternal,
    status: given(fields.status),
    evaluatorFamily: given(fields.evaluator_family),
    profileName: readProfileName(fields),
    profilePublicId: given(fields.evaluator_profile_public_id)?.toLowerCase(),
    profileRevision: given(fields.evaluator_profile_revision),
    datasetId: given(fields.dataset_id),
    datasetSampleId: given(fields.dataset_sample_id),
    runId: given(fields.evaluation_run_id),
    explainStrategy: given(fields.explain_strategy),
    isExplained: given(fields.explain),
    hasRun: given(fields.has_run),
    tags: given(fields.tags),
    pass: given(fields.pass),
    minScore: given(fields.score_raw_min),
    maxScore: given(fields.score_raw_max),
    createdAfter: instantOf(fields.after_datetime),
    createdBefore: instantOf(fields.before_datetime),
    afterId: idOf(fields.after_id),
    beforeId: idOf(fields.before_id),
  } satisfies { [Name in keyof Required<ResultFilter>]: ResultFilter[Name] };
}

/** The results that a search selects: successes, unless it names a status. */
export async function readSearchFilter(
  services: FilterServices,
  requester: Requester,
  fields: EvaluationResultFilter,
): Promise<SearchFilter> {
  const filter = await readResultFilter(services, requester, fields);
  return { ...filter, status: filter.status ?? "success" };
}

function readOrder(order: "-created_at" | "created_at" | undefined): TimeOrder {
  return order === "created_at" ? "oldest-first" : "newest-first";
}

const columnOrders = {
  dataset_sample_id: "first-sample-first",
  "-dataset_sample_id": "last-sample-first",
  score_raw: "lowest-score-first",
  "-score_raw": "highest-score-first",
} as const;

export function readSearchOrder(order: EvaluationResultSearchRequest["order"]): TimeOrder | ColumnOrder {
  if (order === "created_at" || order === "-created_at" || !order) return readOrder(order ?? undefined);
  return columnOrders[order];
}

/** The query of an export, in the types of a search. */
export function readExportQuery(query: EvaluationResultExportQuery) {
  const {
    tags,
    pass,
    explain,
    has_run,
    score_raw_min,
    score_raw_max,
    order,
    format,
    evaluator_profile_revision: revision,
    ...names
  } = query;
  const filter: EvaluationResultFilter = {
    ...names,
    tags: tags === undefined ? undefined : readTags(tags),
    pass: pass === undefined ? undefined : isTrueWord(pass),
    explain: explain === undefined ? undefined : isTrueWord(explain),
    has_run: has_run === undefined ? undefined : isTrueWord(has_run),
    evaluator_profile_revision: revision === undefined ? undefined : Number(revision),
    score_raw_min: score_raw_min === undefined ? undefined : Number(score_raw_min),
    score_raw_max: score_raw_max === undefined ? undefined : Number(score_raw_max),
  };
  return { filter, order: readOrder(order), format: format ?? "jsonl" };
}

function readTags(text: string): EvaluationResultFilter["tags"] {
  try {
    const parsed = EvaluationResultFilter.shape.tags.safeParse(JSON.parse(text));
    if (parsed.success && parsed.data !== null) return parsed.data;
  } catch {
    // Rejected below.
  }
  const msg = "Value error, Input should be a JSON object of strings";
  const issue: ValidationError = { type: "value_error", loc: ["query", "tags"], msg, input: text };
  throw new InvalidRequestError([issue]);
}

function given<Value>(value: Value | null | undefined): Value | undefined {
  return value ?? undefined;
}

function instantOf(text: string | null | undefined): number | undefined {
  return text ? readInstant(text) : undefined;
}

function idOf(id: unknown): number | undefined {
  return id === null || id === undefined ? undefined : readResultId(id);
}
