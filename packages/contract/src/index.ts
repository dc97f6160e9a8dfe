export * from "./account/api-key.ts";
export * from "./account/audit.ts";
export { type Need, permissions, scopesOfRole } from "./account/permissions.ts";
export * from "./account/share.ts";
export * from "./account/usage.ts";
export * from "./account/user.ts";
export { maxIssues } from "./custom-schemas.ts";
export * from "./environments/environment.ts";
export * from "./environments/episode.ts";
export * from "./environments/openenv.ts";
export * from "./environments/ors.ts";
export * from "./environments/reality.ts";
export * from "./environments/reality-figures.ts";
export * from "./environments/stop.ts";
export * from "./evaluation/comparison.ts";
export * from "./evaluation/dataset.ts";
export * from "./evaluation/error-taxonomy.ts";
export * from "./evaluation/evaluate.ts";
export * from "./evaluation/evaluator.ts";
export * from "./evaluation/exports.ts";
export * from "./evaluation/goal.ts";
export {
  DatasetFormat,
  DatasetImport,
  ImportFormat,
  ImportFormatsResponse,
  ImportPreviewQuery,
  LeftOutReason,
  SampleUsage,
} from "./evaluation/imports.ts";
export * from "./evaluation/labels.ts";
export * from "./evaluation/project.ts";
export {
  ConfidenceInterval,
  Correction,
  CorrectionRequest,
  CorrectionResponse,
  DeprecatedExplain,
  deprecated,
  EvaluationLabel,
  EvaluationResult,
  EvaluationResultPath,
  EvaluationResultResponse,
  EvaluationStatus,
  ExplainStrategy,
  LabelVerdict,
  Position,
} from "./evaluation/result.ts";
export * from "./evaluation/result-search.ts";
export * from "./evaluation/result-summary.ts";
export * from "./evaluation/run.ts";
export * from "./evaluation/run-calibration.ts";
export * from "./evaluation/run-ends.ts";
export * from "./evaluation/run-headline.ts";
export * from "./evaluation/run-report.ts";
export * from "./evaluation/run-sample.ts";
export * from "./prediction/chat-completion.ts";
export * from "./prediction/deployment.ts";
export * from "./prediction/prediction.ts";
export * from "./prediction/stored-prediction.ts";
export * from "./prediction/through-world.ts";
export * from "./query.ts";
export * from "./responses.ts";
export { readInstant, shortText, storableText } from "./text.ts";
export * from "./worlds/coverage.ts";
export * from "./worlds/world.ts";
export * from "./worlds/world-calibration.ts";
