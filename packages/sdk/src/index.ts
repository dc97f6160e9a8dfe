export type {
  ApiKeyCreateRequest,
  ApiKeyCreateResponse,
  ApiKeyResponse,
  ChatCompletionRequest,
  ChatCompletionResponse,
  ChatMessage,
  ConfidenceInterval,
  Context,
  Correction,
  CorrectionRequest,
  ErrorTaxonomyRevision,
  ErrorTaxonomyRevisionCreateRequest,
  EvaluateItem,
  EvaluateRequest,
  EvaluationResult,
  EvaluationStatus,
  EvaluationSummaryGroup,
  EvaluationSummaryResponse,
  Evaluator,
  EvaluatorFamily,
  EvaluatorProfile,
  EvaluatorProfileCreateRequest,
  EvaluatorProfileRevisionRequest,
  EvaluatorReference,
  ExplainStrategy,
  ImportedEvaluationResult,
  Interaction,
  MeResponse,
  Model,
  Params,
  PromptMessage,
  SummaryDimension,
  Usage,
  ValidationError,
  WorldModelRequest,
} from "@presage/contract";
export type { CallOptions } from "./call.ts";
export { createPresage, type Presage, type PresageOptions } from "./create-presage.ts";
export { PresageError, type PresageErrorCategory } from "./presage-error.ts";
export type { ErrorTaxonomyFilter } from "./resources/error-taxonomies.ts";
export type { EvaluateOptions } from "./resources/evaluate.ts";
export type { IterateOptions } from "./resources/evaluation-results.ts";
export type { EvaluatorProfileFilter } from "./resources/evaluator-profiles.ts";
export type { Prediction } from "./resources/predictions.ts";
export type {
  ExportRequest,
  ResultFilter,
  SearchRequest,
  SummaryRequest,
} from "./resources/result-filter.ts";
