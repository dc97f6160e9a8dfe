import { expect, test } from "bun:test";
import { z } from "zod";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

// The calls that the Python clients of these versions make for an experiment, as they were sent, and the shapes that they parse the
// responses with. A field that a client requires may be null only where the client says so.

const project = z.object({ id: z.string(), name: z.string() });
const experiment = z.object({ id: z.string(), project_id: z.string(), name: z.string() });
const experimentResponse = z.object({ experiment });
const text = z.string().nullable();

/** A result of October 2024: every field is required. */
const resultOf2024 = z.object({
  id: z.string(),
  project_id: text,
  app: text,
  experiment_id: text,
  created_at: z.iso.datetime({ offset: true }),
  evaluator_id: z.string(),
  evaluated_model_system_prompt: text,
  evaluated_model_retrieved_context: z.array(z.string()).nullable(),
  evaluated_model_input: text,
  evaluated_model_output: text,
  evaluated_model_gold_answer: text,
  pass: z.boolean().nullable(),
  score_raw: z.number().nullable(),
  additional_info: z.object({
    positions: z.array(z.unknown()).nullable(),
    extra: z.record(z.string(), z.unknown()).nullable(),
    confidence_interval: z.record(z.string(), z.unknown()).nullable(),
  }),
  explanation: text,
  evaluation_duration: text,
  explanation_duration: text,
  evaluator_family: z.string(),
  evaluator_profile_public_id: z.string(),
  dataset_id: text,
  dataset_sample_id: z.coerce.number().int().nullable(),
  tags: z.record(z.string(), z.string()).nullable(),
});

const evaluationResponse = z.object({
  results: z
    .array(
      z.object({
        evaluator_id: z.string(),
        criteria: z.string(),
        profile_name: z.string(),
        status: z.string(),
        error_message: text,
        evaluation_result: resultOf2024,
      }),
    )
    .length(1),
});

const exportResponse = z.object({
  evaluation_results: z.array(
    z.object({ id: z.string(), app: text, created_at: z.string(), evaluator_id: z.string() }),
  ),
});

const evaluators = z.object({
  evaluators: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      evaluator_family: text,
      aliases: z.array(z.string()).nullable(),
      default_criteria: text,
    }),
  ),
});

const criteriaList = z.object({
  evaluator_criteria: z.array(
    z.object({
      public_id: z.string(),
      evaluator_family: z.string(),
      name: z.string(),
      revision: z.int(),
      config: z.record(z.string(), z.unknown()).nullable(),
      is_patronus_managed: z.boolean(),
      created_at: z.string(),
      description: text,
    }),
  ),
});

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { search } = evaluationResultsClient(() => presage);

  async function call<Shape extends z.ZodType>(
    method: string,
    path: string,
    shape: Shape,
    body?: object,
  ): Promise<z.infer<Shape>> {
    const response = await presage.call(method, path, body);
    expect(response.ok).toBe(true);
    return shape.parse(await response.json());
  }

  test("An experiment of the client of October 2024 is created, evaluated and exported", async () => {
    const { id: project_id } = await call("POST", "/v1/projects", project, { name: "Old" });
    const made = await call("POST", "/v1/experiments", experimentResponse, { project_id, name: "root-1" });
    const experiment_id = made.experiment.id;
    const { results } = await call("POST", "/v1/evaluate", evaluationResponse, {
      evaluators: [
        { evaluator: "exact-match-2026-11-21", profile_name: "system:default", explain_strategy: "always" },
      ],
      evaluated_model_system_prompt: null,
      evaluated_model_retrieved_context: null,
      evaluated_model_input: "abc",
      evaluated_model_output: "ABC",
      evaluated_model_gold_answer: "ABC",
      evaluated_model_attachments: null,
      app: null,
      experiment_id,
      capture: "all",
      dataset_id: null,
      dataset_sample_id: 1,
      tags: {},
    });
    expect(results[0]?.evaluation_result).toMatchObject({ project_id, experiment_id, dataset_sample_id: 1 });
    const row = {
      experiment_id,
      evaluator_id: "iexact",
      profile_name: null,
      evaluated_model_system_prompt: null,
      evaluated_model_retrieved_context: null,
      evaluated_model_input: "abc",
      evaluated_model_output: "ABC",
      evaluated_model_gold_answer: "ABC",
      pass: true,
      score_raw: 1,
      evaluation_duration: "PT0.000012S",
      evaluated_model_name: null,
      evaluated_model_provider: null,
      evaluated_model_params: null,
      evaluated_model_selected_model: null,
      dataset_id: null,
      dataset_sample_id: 1,
      tags: {},
    };
    await call("POST", "/v1/evaluation-results/batch", exportResponse, { evaluation_results: [row] });
    expect((await search({ experiment_id, project_id })).map(({ evaluator_id }) => evaluator_id)).toEqual([
      "external:iexact",
      "exact-match-2026-11-21",
    ]);
    const found = await call("GET", `/v1/experiments/${experiment_id}`, experimentResponse);
    const ofFound = z.object({ project });
    expect(await call("GET", `/v1/projects/${found.experiment.project_id}`, ofFound)).toMatchObject({
      project: { name: "Old" },
    });
  });

  test("An experiment of the client of 2025 finds its evaluators and criteria, and is evaluated with them", async () => {
    const byAlias = "/v1/evaluators?by_alias_or_id=exact-match";
    const [evaluator] = (await call("GET", byAlias, evaluators)).evaluators;
    const query = "?name=system%3Adefault&get_last_revision=true&limit=1000&offset=0";
    const { evaluator_criteria } = await call("GET", `/v1/evaluator-criteria${query}`, criteriaList);
    const criteria = `${evaluator_criteria[0]?.name}:${evaluator_criteria[0]?.revision}`;
    expect(criteria).toBe("system:default:1");
    const created = await call("POST", "/v1/projects", project, { name: "World Model" });
    const made = await call("POST", "/v1/experiments", experimentResponse, {
      project_id: created.id,
      name: "exp-1795319840",
      tags: { who: "py" },
      metadata: { evaluator_weights: {} },
    });
    const experiment_id = made.experiment.id;
    const body = {
      evaluators: [{ evaluator: evaluator?.id, criteria, explain_strategy: "always" }],
      evaluated_model_system_prompt: null,
      evaluated_model_retrieved_context: null,
      evaluated_model_input: "abc",
      evaluated_model_output: "ABC",
      evaluated_model_gold_answer: "ABC",
      evaluated_model_attachments: null,
      project_id: null,
      project_name: "World Model",
      app: null,
      experiment_id,
      capture: "all",
      dataset_id: "d1",
      dataset_sample_id: "1",
      tags: { who: "py" },
      trace_id: "a21bfed3dda4a8ed39f1b3d3d5b8fa54",
      span_id: "55a4a2a4e8a0e9b0",
      log_id: "bd1fd8f0-29bc-4b8f-a53e-2a3f0f9e6e3f",
    };
    const { results } = await call("POST", "/v1/evaluate", evaluationResponse, body);
    expect(results[0]?.evaluation_result).toMatchObject({
      project_id: created.id,
      experiment_id,
      dataset_sample_id: 1,
      pass: true,
    });
  });
});
