export * from "./api-key.ts";
export * from "./capture.ts";
export * from "./chat-completion.ts";
export { readInstant } from "./date-time.ts";
export * from "./deployment.ts";
export * from "./environment.ts";
export * from "./episode.ts";
export * from "./errors.ts";
export * from "./evaluation/client-evaluation.ts";
export * from "./evaluation/comparison.ts";
export * from "./evaluation/dataset.ts";
export * from "./evaluation/error-taxonomy.ts";
export * from "./evaluation/evaluate.ts";
export * from "./evaluation/evaluation-result.ts";
export * from "./evaluation/evaluation-search.ts";
export * from "./evaluation/evaluation-tag.ts";
export * from "./evaluation/evaluator.ts";
export * from "./evaluation/evaluator-criteria.ts";
export * from "./evaluation/evaluator-profile.ts";
export * from "./evaluation/experiment.ts";
export * from "./evaluation/imported-result.ts";
export * from "./evaluation/project.ts";
export {
  DeprecatedExplain,
  deprecated,
  EvaluationStatus,
  ExplainStrategy,
} from "./evaluation/result-fields.ts";
export { readResultId } from "./evaluation/result-id.ts";
export * from "./evaluation/review.ts";
export * from "./evaluation/run.ts";
export * from "./evaluation/run-report.ts";
export * from "./evaluation/run-sample.ts";
export * from "./kept-prediction.ts";
export { maxIssues } from "./list.ts";
export * from "./me.ts";
export * from "./model.ts";
export * from "./prediction.ts";
export * from "./probe.ts";
export * from "./query.ts";
export * from "./session.ts";
export * from "./usage.ts";
export * from "./whoami.ts";
