import { expect, test } from "bun:test";
import { ExperimentResponse, Project } from "@presage/contract";
import { z } from "zod";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { issuesOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const path = "/v1/evaluations/batch";

/** What the Python client of 2025 (patronus 0.1.26) requires of the response. It repeats the batch forever if anything is wrong. */
const clientResponse = z.object({
  evaluations: z.array(
    z.object({
      id: z.coerce.number().int(),
      log_id: z.string(),
      created_at: z.iso.datetime({ offset: true }),
      experiment_id: z.int().nullish(),
    }),
  ),
});

/** The batch as that client sent it. */
const recorded = [
  {
    log_id: "15ee024e-4b3a-4e97-85d2-1c84a005a3a6",
    project_id: null,
    project_name: "kitchen",
    app: "newcomer",
    experiment_id: null,
    evaluator_id: "is_short",
    criteria: null,
    pass: true,
    score: 1.0,
    text_output: null,
    metadata: null,
    explanation: null,
    evaluation_duration: "PT0.001086S",
    explanation_duration: null,
    metric_name: "is_short",
    metric_description: null,
    dataset_id: null,
    dataset_sample_id: null,
    created_at: "2026-11-22T12:36:05.436762Z",
    tags: {},
    trace_id: "00000000000000000000000000000000",
    span_id: "0000000000000000",
  },
  {
    log_id: "9e0751aa-34e0-4626-aaf0-7c7c399f3185",
    project_id: null,
    project_name: "kitchen",
    app: "newcomer",
    experiment_id: null,
    evaluator_id: "rated",
    criteria: null,
    pass: false,
    score: 0.25,
    text_output: "poor",
    metadata: { length: 33 },
    explanation: "Too long.",
    evaluation_duration: "PT0.000251S",
    explanation_duration: null,
    metric_name: "rated",
    metric_description: null,
    dataset_id: null,
    dataset_sample_id: null,
    created_at: "2026-11-22T12:36:05.437329Z",
    tags: { step: "3" },
    trace_id: "00000000000000000000000000000000",
    span_id: "0000000000000000",
  },
];

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { search } = evaluationResultsClient(() => presage);

  async function send(evaluations: object[]) {
    const response = await presage.call("POST", path, { evaluations });
    expect(response.status).toBe(201);
    return clientResponse.parse(await response.json()).evaluations;
  }

  test("the verdicts of a client's own evaluators become results, with everything that was sent", async () => {
    const stored = await send(recorded);
    expect(stored.map(({ log_id }) => log_id)).toEqual(recorded.map(({ log_id }) => log_id));
    const [rated, isShort] = await search({ app: "newcomer" });
    expect([isShort?.id, rated?.id]).toEqual(stored.map(({ id }) => String(id)));
    expect(isShort).toMatchObject({
      evaluator_id: "external:is_short",
      external: true,
      pass: true,
      score_raw: 1,
      evaluation_duration: "PT0.001086S",
    });
    const project = await presage.call("GET", `/v1/projects/${rated?.project_id}`);
    expect(await project.json()).toMatchObject({ project: { name: "kitchen" } });
    expect(rated).toMatchObject({
      pass: false,
      score_raw: 0.25,
      explanation: "Too long.",
      tags: { step: "3" },
      evaluated_model_output: null,
      additional_info: {
        extra: {
          log_id: "9e0751aa-34e0-4626-aaf0-7c7c399f3185",
          text_output: "poor",
          metadata: { length: 33 },
          metric_name: "rated",
          created_at: "2026-11-22T12:36:05.437329Z",
        },
      },
    });
  });

  test("those of an experiment belong to it, and its id is not in the response, where clients expect an integer", async () => {
    const made = await presage.call("POST", "/v1/projects", { name: "cellar" });
    const project = Project.parse(await made.json());
    const newExperiment = { project_id: project.id, name: "first" };
    const created = await presage.call("POST", "/v1/experiments", newExperiment);
    const { experiment } = ExperimentResponse.parse(await created.json());
    const ofExperiment = { project_name: "cellar", app: null, experiment_id: experiment.id };
    await send([{ ...recorded[0], ...ofExperiment, log_id: crypto.randomUUID(), dataset_sample_id: "7" }]);
    expect(await search({ experiment_id: experiment.id })).toMatchObject([
      { evaluator_id: "external:is_short", project_id: project.id, dataset_sample_id: "7" },
    ]);
  });

  test("a batch that the client repeats is stored once", async () => {
    const batch = recorded.map((one) => ({ ...one, app: "repeated", log_id: crypto.randomUUID() }));
    expect(await send(batch)).toEqual(await send(batch));
    expect(await search({ app: "repeated" })).toHaveLength(2);
    await send([{ ...batch[0], log_id: crypto.randomUUID() }]);
    expect(await search({ app: "repeated" })).toHaveLength(3);
  });

  test("a score that is not from 0 to 1 is kept as a detail", async () => {
    const scores = [5, -0.5, 1];
    await send(
      scores.map((score) => ({ log_id: crypto.randomUUID(), evaluator_id: "words", app: "words", score })),
    );
    const found = await search({ app: "words", order: "created_at" });
    expect(found.map(({ score_raw }) => score_raw)).toEqual([null, null, 1]);
    expect(found.map(({ additional_info }) => additional_info.extra?.score)).toEqual([5, -0.5, undefined]);
  });

  test("a score beyond all numbers is refused, and nothing of its batch is stored", async () => {
    const lines = ["0.5", "1e999"].map(
      (score) => `{"log_id":"${crypto.randomUUID()}","evaluator_id":"far","app":"far","score":${score}}`,
    );
    const response = await presage.call("POST", path, `{"evaluations":[${lines}]}`);
    expect(response.status).toBe(422);
    expect((await issuesOf(response))[0]?.loc).toEqual(["body", "evaluations", 1, "score"]);
    expect(await search({ app: "far" })).toEqual([]);
  });

  test("a duration in years is refused by the name of its field", async () => {
    const evaluation = { ...recorded[0], evaluation_duration: "P1Y" };
    const response = await presage.call("POST", path, { evaluations: [evaluation] });
    expect(response.status).toBe(422);
    expect((await issuesOf(response))[0]?.loc).toEqual(["body", "evaluations", 0, "evaluation_duration"]);
  });
});
