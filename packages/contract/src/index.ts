export * from "./account/api-key.ts";
export * from "./account/audit.ts";
export * from "./account/me.ts";
export * from "./account/member.ts";
export { type Need, permissions, scopesOfRole } from "./account/permissions.ts";
export * from "./account/role.ts";
export * from "./account/session.ts";
export * from "./account/usage.ts";
export * from "./account/whoami.ts";
export { readInstant } from "./date-time.ts";
export * from "./environments/environment.ts";
export * from "./environments/environment-revision.ts";
export * from "./environments/episode.ts";
export * from "./environments/episode-figures.ts";
export * from "./environments/episode-selection.ts";
export * from "./environments/openenv.ts";
export * from "./environments/ors.ts";
export * from "./environments/reserved-names.ts";
export * from "./errors.ts";
export * from "./evaluation/client-evaluation.ts";
export * from "./evaluation/error-taxonomy.ts";
export * from "./evaluation/evaluate.ts";
export * from "./evaluation/evaluation-result.ts";
export * from "./evaluation/evaluation-search.ts";
export * from "./evaluation/evaluation-tag.ts";
export * from "./evaluation/evaluator.ts";
export * from "./evaluation/evaluator-criteria.ts";
export * from "./evaluation/evaluator-profile.ts";
export * from "./evaluation/imported-result.ts";
export * from "./evaluation/result-deletion.ts";
export {
  DeprecatedExplain,
  deprecated,
  EvaluationStatus,
  ExplainStrategy,
} from "./evaluation/result-fields.ts";
export { readResultId } from "./evaluation/result-id.ts";
export * from "./evaluation/review.ts";
export * from "./evaluation/runs/comparison.ts";
export * from "./evaluation/runs/dataset.ts";
export * from "./evaluation/runs/experiment.ts";
export * from "./evaluation/runs/project.ts";
export * from "./evaluation/runs/run.ts";
export * from "./evaluation/runs/run-report.ts";
export * from "./evaluation/runs/run-sample.ts";
export { maxIssues } from "./list.ts";
export * from "./prediction/capture.ts";
export * from "./prediction/chat-completion.ts";
export * from "./prediction/deployment.ts";
export * from "./prediction/kept-prediction.ts";
export * from "./prediction/model.ts";
export * from "./prediction/openai-chat.ts";
export * from "./prediction/prediction.ts";
export * from "./probe.ts";
export * from "./query.ts";
