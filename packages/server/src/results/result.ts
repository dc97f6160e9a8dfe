import type { EvaluateRequest, EvaluationResult, ExplainStrategy } from "@presage/contract";
import { type CurrentResult, withOldResultNames } from "../evaluators/old-names.ts";
import { type EvaluatorOutcome, type Sample, toExternalName } from "../evaluators/outcome.ts";
import { parseStored } from "../platform/json.ts";
import {
  clusterIdOf,
  type Micros,
  nowMicros,
  sampleKey,
  toFlag,
  toIsoInstant,
  trajectoryTag,
} from "../platform/storage/columns.ts";
import type {
  EvaluationCorrectionsTable,
  EvaluationPayloadsTable,
  EvaluationResultsTable,
  EvaluationTagsTable,
} from "../platform/storage/schema/results.ts";

/** What the caller stores a result under, to find and group it later. */
export interface ResultMetadata {
  app: string;
  tags?: Readonly<Record<string, string>> | undefined;
  datasetId?: string | undefined;
  datasetSampleId?: number | string | undefined;
  runId?: string | undefined;
  runProjectId?: string | undefined;
  projectId?: string | undefined;
  experimentId?: string | undefined;
  evaluatedModel?: EvaluatedModel | undefined;
}

/** The model whose output is evaluated. */
export interface EvaluatedModel {
  id?: string | undefined;
  name?: string | undefined;
  provider?: string | undefined;
  params?: Readonly<Record<string, unknown>> | undefined;
  selectedModel?: string | undefined;
}

/** The profile revision that a result was made with. For an imported result, at most the name is known. */
export interface UsedProfile {
  name: string;
  publicId?: string | undefined;
  revision?: number | undefined;
}

/** One evaluation, before it is stored. */
export interface EvaluationRecord {
  accountId: string;
  evaluatorId: string;
  /** Absent for an imported result. */
  evaluatorFamily?: string | undefined;
  profile?: UsedProfile | undefined;
  explainStrategy: ExplainStrategy;
  isExternal: boolean;
  /** At most one result of an account is stored under this key. */
  requestKey?: string | undefined;
  sample: Sample;
  metadata: ResultMetadata;
  outcome: EvaluatorOutcome;
}

export interface StoredResult extends EvaluationRecord {
  id: number;
  createdAt: Micros;
  /** The latest correction. */
  correction?: Correction | undefined;
}

/** Scores are counted and looked up rounded to thousandths. */
export function toThousandths(score: number): number {
  return Math.round(score * 1000);
}

export function fromThousandths(thousandths: number | null): number | null {
  return thousandths === null ? null : thousandths / 1000;
}

export function clusterOf(metadata: ResultMetadata): number | null {
  return clusterIdOf({ ...metadata, trajectoryId: metadata.tags?.[trajectoryTag] });
}

/** A result as it is stored: the columns it is found by, and the texts that are only shown. */
export interface ResultRows {
  row: EvaluationResultsTable;
  texts: EvaluationPayloadsTable;
}

/** A placeholder for the number and the time, which a result gets when it is stored. */
const notYet = 0;

export function toRows({ sample, metadata, outcome, profile, ...record }: EvaluationRecord): ResultRows {
  const pass = outcome.pass === undefined ? null : toFlag(outcome.pass);
  const score = outcome.score ?? null;
  const { positions, extra, confidenceInterval } = outcome;
  const hasInfo = positions !== undefined || extra !== undefined || confidenceInterval !== undefined;
  return {
    row: {
      id: notYet,
      account_id: record.accountId,
      created_at: notYet,
      app: metadata.app,
      evaluator_id: record.evaluatorId,
      evaluator_family: record.evaluatorFamily ?? null,
      profile_name: profile?.name ?? null,
      profile_public_id: profile?.publicId ?? null,
      profile_revision: profile?.revision ?? null,
      status: outcome.status,
      explain_strategy: record.explainStrategy,
      dataset_id: metadata.datasetId ?? null,
      run_id: metadata.runId ?? null,
      project_id: metadata.projectId ?? null,
      experiment_id: metadata.experimentId ?? null,
      sample_key: metadata.datasetSampleId === undefined ? null : sampleKey(metadata.datasetSampleId),
      is_external: toFlag(record.isExternal),
      pass,
      score,
      counted_pass: pass,
      counted_score: score,
      score_mille: score === null ? null : toThousandths(score),
      request_key: record.requestKey ?? null,
      cluster_id: clusterOf(metadata),
      is_equal: toFlag(isEqual(sample.output, sample.goldAnswer)),
    },
    texts: {
      result_id: notYet,
      system_prompt: sample.systemPrompt ?? null,
      retrieved_context: toJson(sample.retrievedContext),
      input: sample.input ?? null,
      output: sample.output ?? null,
      gold_answer: sample.goldAnswer ?? null,
      error_message: outcome.errorMessage ?? null,
      explanation: outcome.explanation ?? null,
      evaluation_micros: outcome.evaluationMicros ?? null,
      explanation_micros: outcome.explanationMicros ?? null,
      additional_info: hasInfo ? toJson({ positions, extra, confidenceInterval }) : null,
      dataset_sample_id: toJson(metadata.datasetSampleId),
      run_project_id: metadata.runProjectId ?? null,
      evaluated_model: toJson(metadata.evaluatedModel),
      tags: toJson(metadata.tags),
    },
  };
}

/** Whether both are the same text, ignoring white space at the ends. */
function isEqual(output: string | undefined, goldAnswer: string | undefined): boolean {
  return output !== undefined && goldAnswer !== undefined && trimmed(output) === trimmed(goldAnswer);
}

/** Trims like the database (labels/labels-store.ts): these four characters only. */
function trimmed(text: string): string {
  const isBlank = (at: number) => " \t\r\n".includes(text.charAt(at));
  let [start, end] = [0, text.length];
  while (start < end && isBlank(start)) start += 1;
  while (end > start && isBlank(end - 1)) end -= 1;
  return text.slice(start, end);
}

/** A result's tags, which are stored as JSON with its texts, as rows to find it by. */
export function toTagRows(
  { id, account_id }: Pick<EvaluationResultsTable, "id" | "account_id">,
  tags: string | null | undefined,
): EvaluationTagsTable[] {
  const named = fromJson<Record<string, string>>(tags ?? null) ?? {};
  return Object.entries(named).map(([name, value]) => ({ account_id, name, value, result_id: id }));
}

export function fromRows(row: EvaluationResultsTable & EvaluationPayloadsTable): StoredResult {
  return {
    id: row.id,
    createdAt: row.created_at,
    accountId: row.account_id,
    evaluatorId: row.evaluator_id,
    evaluatorFamily: row.evaluator_family ?? undefined,
    profile: fromProfileColumns(row),
    explainStrategy: row.explain_strategy,
    isExternal: row.is_external === 1,
    requestKey: row.request_key ?? undefined,
    sample: {
      systemPrompt: row.system_prompt ?? undefined,
      retrievedContext: fromJson<string[]>(row.retrieved_context),
      input: row.input ?? undefined,
      output: row.output ?? undefined,
      goldAnswer: row.gold_answer ?? undefined,
    },
    metadata: {
      app: row.app,
      tags: fromJson<Record<string, string>>(row.tags),
      datasetId: row.dataset_id ?? undefined,
      datasetSampleId: fromJson<number | string>(row.dataset_sample_id),
      runId: row.run_id ?? undefined,
      runProjectId: row.run_project_id ?? undefined,
      projectId: row.project_id ?? undefined,
      experimentId: row.experiment_id ?? undefined,
      evaluatedModel: fromJson<EvaluatedModel>(row.evaluated_model),
    },
    outcome: {
      status: row.status,
      errorMessage: row.error_message ?? undefined,
      pass: row.pass === null ? undefined : row.pass === 1,
      score: row.score ?? undefined,
      ...fromJson<Pick<EvaluatorOutcome, "positions" | "extra" | "confidenceInterval">>(row.additional_info),
      explanation: row.explanation ?? undefined,
      evaluationMicros: row.evaluation_micros ?? undefined,
      explanationMicros: row.explanation_micros ?? undefined,
    },
  };
}

function fromProfileColumns(
  row: Pick<EvaluationResultsTable, "profile_name" | "profile_public_id" | "profile_revision">,
): StoredResult["profile"] {
  const { profile_name: name, profile_public_id: publicId, profile_revision: revision } = row;
  if (name === null) return undefined;
  return { name, publicId: publicId ?? undefined, revision: revision ?? undefined };
}

function toJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** These columns were JSON of this type when they were written. */
function fromJson<Value>(text: string | null): Value | undefined {
  return text === null ? undefined : (parseStored(text) as Value);
}

/** A result in a response, under new names and old. A result that was not stored has no id. */
export function toEvaluationResult(record: EvaluationRecord | StoredResult): EvaluationResult {
  return withOldResultNames(toCurrentResult(record));
}

/** A result under current names only. */
export function toCurrentResult(record: EvaluationRecord | StoredResult): CurrentResult {
  const { sample, metadata, outcome, profile } = record;
  const stored = "id" in record ? record : undefined;
  const model = metadata.evaluatedModel;
  return {
    id: stored === undefined ? null : String(stored.id),
    app: metadata.app,
    created_at: toIsoInstant(stored?.createdAt ?? nowMicros()),
    evaluator_id: record.isExternal ? toExternalName(record.evaluatorId) : record.evaluatorId,
    evaluator_family: record.evaluatorFamily ?? null,
    profile_name: profile?.name ?? null,
    criteria: profile?.name ?? null,
    evaluator_profile_public_id: profile?.publicId ?? null,
    evaluator_profile_revision: profile?.revision ?? null,
    evaluated_model_system_prompt: sample.systemPrompt ?? null,
    evaluated_model_retrieved_context:
      sample.retrievedContext === undefined ? null : [...sample.retrievedContext],
    evaluated_model_input: sample.input ?? null,
    evaluated_model_output: sample.output ?? null,
    evaluated_model_gold_answer: sample.goldAnswer ?? null,
    explain_strategy: record.explainStrategy,
    status: outcome.status,
    error_message: outcome.errorMessage ?? null,
    pass: outcome.pass ?? null,
    score_raw: outcome.score ?? null,
    additional_info: {
      positions:
        outcome.positions === undefined ? null : outcome.positions.map(([start, end]) => [start, end]),
      extra: outcome.extra === undefined ? null : { ...outcome.extra },
      confidence_interval: outcome.confidenceInterval ?? null,
    },
    explanation: outcome.explanation ?? null,
    evaluation_duration: toDuration(outcome.evaluationMicros),
    explanation_duration: toDuration(outcome.explanationMicros),
    evaluation_run_project_id: metadata.runProjectId ?? null,
    evaluation_run_id: metadata.runId ?? null,
    project_id: metadata.projectId ?? null,
    experiment_id: metadata.experimentId ?? null,
    evaluated_model_id: model?.id ?? null,
    evaluated_model_name: model?.name ?? null,
    evaluated_model_provider: model?.provider ?? null,
    evaluated_model_params: model?.params === undefined ? null : { ...model.params },
    evaluated_model_selected_model: model?.selectedModel ?? null,
    dataset_id: metadata.datasetId ?? null,
    dataset_sample_id: metadata.datasetSampleId ?? null,
    tags: metadata.tags === undefined ? null : { ...metadata.tags },
    external: record.isExternal,
    correction: stored?.correction ?? null,
  };
}

/** What a person said about a verdict. */
export type Correction = NonNullable<EvaluationResult["correction"]>;

export function toCorrection(
  row: Pick<EvaluationCorrectionsTable, "pass" | "score" | "comment" | "created_at">,
): Correction {
  const { pass, score, comment, created_at } = row;
  return { pass: pass === 1, score_raw: score, comment, created_at: toIsoInstant(created_at) };
}

/** ISO 8601, to the microsecond, which is the smallest number that JavaScript writes without an exponent. */
function toDuration(micros: number | undefined): string | null {
  return micros === undefined ? null : `PT${micros / 1e6}S`;
}

const defaultApp = "default";

type MetadataFields = Pick<
  EvaluateRequest,
  | "app"
  | "tags"
  | "dataset_id"
  | "dataset_sample_id"
  | "evaluation_run_id"
  | "evaluation_run_project_id"
  | "project_id"
  | "experiment_id"
  | "evaluated_model_id"
  | "evaluated_model_name"
  | "evaluated_model_provider"
  | "evaluated_model_params"
  | "evaluated_model_selected_model"
>;

/** A result's metadata. Nulls, empty texts and empty tags are treated as absent. */
export function readResultMetadata(fields: MetadataFields): ResultMetadata {
  const { app, tags, dataset_sample_id } = fields;
  return {
    app: app ?? defaultApp,
    tags: tags && Object.keys(tags).length > 0 ? tags : undefined,
    datasetId: fields.dataset_id || undefined,
    datasetSampleId: dataset_sample_id === 0 ? 0 : dataset_sample_id || undefined,
    runId: fields.evaluation_run_id || undefined,
    runProjectId: fields.evaluation_run_project_id || undefined,
    projectId: fields.project_id || undefined,
    experimentId: fields.experiment_id || undefined,
    evaluatedModel: readModel(fields),
  };
}

function readModel(fields: MetadataFields): EvaluatedModel | undefined {
  const model = {
    id: fields.evaluated_model_id || undefined,
    name: fields.evaluated_model_name || undefined,
    provider: fields.evaluated_model_provider || undefined,
    params: fields.evaluated_model_params ?? undefined,
    selectedModel: fields.evaluated_model_selected_model || undefined,
  };
  return Object.values(model).some((value) => value !== undefined) ? model : undefined;
}
