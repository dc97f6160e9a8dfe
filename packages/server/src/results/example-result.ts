import type { EvaluateRequest, EvaluationResult } from "@presage/contract";

const step = "State: You are in the kitchen. The fridge is closed.\n\nAction: open fridge";

/** An evaluation in the OpenAPI document. */
export const exampleEvaluation = {
  evaluators: [{ evaluator: "edit-distance" }],
  evaluated_model_input: step,
  evaluated_model_output: "You open the fridge.",
  evaluated_model_gold_answer: "You open the fridge. It is empty.",
  evaluated_model_name: "world-model-7b",
  app: "night-runs",
  tags: { split: "validation" },
  dataset_id: "kitchen",
  dataset_sample_id: 17,
  evaluation_run_id: "run-42",
} satisfies EvaluateRequest;

const score = 0.6060606060606061;

/** Its result. */
export const exampleResult: EvaluationResult = {
  id: "1",
  app: "night-runs",
  created_at: "2026-11-22T03:46:47.997Z",
  evaluator_id: "edit-distance-2026-11-21",
  evaluator_family: "edit-distance",
  profile_name: "system:default",
  criteria: "system:default",
  evaluator_profile_public_id: "39a12a5e-b32c-5e0a-909c-e8abb4999690",
  evaluator_profile_revision: 1,
  evaluated_model_system_prompt: null,
  evaluated_model_retrieved_context: null,
  evaluated_model_input: step,
  evaluated_model_output: "You open the fridge.",
  evaluated_model_gold_answer: "You open the fridge. It is empty.",
  explain_strategy: "always",
  status: "success",
  error_message: null,
  pass: false,
  score_raw: score,
  additional_info: {
    positions: [[20, 20]],
    extra: { edits: 13, longer_length: 33 },
    confidence_interval: null,
    score_raw: score,
  },
  explanation:
    '13 of 33 characters would have to be changed. The output differs from character 20 on: it ends there, but the gold answer has " It is empty.".',
  evaluation_duration: "PT0.000368S",
  explanation_duration: "PT0.00014S",
  evaluation_run_project_id: null,
  evaluation_run_id: "run-42",
  project_id: null,
  experiment_id: null,
  evaluated_model_id: null,
  evaluated_model_name: "world-model-7b",
  evaluated_model_provider: null,
  evaluated_model_params: null,
  evaluated_model_selected_model: null,
  dataset_id: "kitchen",
  dataset_sample_id: 17,
  tags: { split: "validation" },
  external: false,
  correction: null,
  system_prompt: null,
  retrieved_context: null,
  input: step,
  output: "You open the fridge.",
  label: "You open the fridge. It is empty.",
  explain: true,
  score_normalized: score,
};
