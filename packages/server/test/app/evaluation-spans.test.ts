import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { attributesOf, type ReceivedSpan, startCollector } from "../support/telemetry/collector.ts";
import { passing, promptOf, say } from "../support/upstream/judge.ts";
import { startUpstream, type TestUpstream } from "../support/upstream/upstream.ts";

let upstream: TestUpstream;
beforeAll(() => {
  // The judge would take a prediction that is itself a verdict for a quotation.
  upstream = startUpstream((received) =>
    say(promptOf(received).includes("Criteria") ? passing : "The door."),
  );
});
afterAll(async () => {
  await upstream.stop();
});

/** The spans of some requests, after the server has stopped. */
async function spansOf(work: (presage: Awaited<ReturnType<typeof startPresage>>) => Promise<void>) {
  const collector = startCollector();
  const presage = await startPresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    ...collector.environment("traces"),
  });
  await work(presage).finally(() => presage.stop());
  await collector.stop();
  expect(collector.texts().join()).not.toContain("secret");
  return collector.spans();
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan[] {
  return spans.filter((span) => span.name === name);
}

test("each evaluator has a span with its verdict, and a judge's call is below its own", async () => {
  const spans = await spansOf(async (presage) => {
    const response = await presage.call("POST", "/v1/evaluate", {
      evaluated_model_output: "the secret output",
      evaluated_model_gold_answer: "the secret gold",
      evaluators: [
        { evaluator: "exact-match" },
        { evaluator: "judge", profile_name: "system:is-concise" },
        { evaluator: "json-match" },
      ],
    });
    expect(response.status).toBe(200);
  });
  const [request] = named(spans, "POST /v1/evaluate");
  const [exact] = named(spans, "evaluate exact-match");
  const [judge] = named(spans, "evaluate judge");
  const [json] = named(spans, "evaluate json-match");
  const [chat] = named(spans, "chat test-model");
  for (const span of [exact, judge, json])
    expect(span).toMatchObject({ traceId: request?.traceId, parentSpanId: request?.spanId });
  expect(chat).toMatchObject({ traceId: request?.traceId, parentSpanId: judge?.spanId });
  const verdict = {
    "gen_ai.evaluation.name": "exact-match",
    "gen_ai.evaluation.score.label": "fail",
    "gen_ai.evaluation.score.value": 0,
  };
  expect(exact && attributesOf(exact)).toEqual({ ...verdict, "presage.profile.name": "system:default" });
  expect(exact?.events.map((event) => [event.name, attributesOf(event)])).toEqual([
    ["gen_ai.evaluation.result", verdict],
  ]);
  expect(judge && attributesOf(judge)).toMatchObject({
    "gen_ai.evaluation.name": "judge",
    "gen_ai.evaluation.score.label": "pass",
  });
  // The judge gave no grade.
  expect(judge && attributesOf(judge)).not.toHaveProperty(["gen_ai.evaluation.score.value"]);
  // Only the code says why there is no verdict.
  expect(json && attributesOf(json)["error.type"]).toBe("unusable_input");
});

test("each step of a run has a trace of its own that names the run's, with its prediction and its evaluators", async () => {
  const spans = await spansOf(async (presage) => {
    const datasets = datasetClient(presage);
    const runs = runClient(presage);
    const dataset = await datasets.create();
    const line = (step: number) => ({
      trajectory_id: "t",
      step,
      interaction: { state: "the secret state", action: "the secret action" },
      next_state: "the secret next state",
    });
    await datasets.uploadNew(dataset, [line(0), line(1)]);
    const { id } = await runs.create({
      name: "nightly",
      dataset_id: dataset,
      target: { deployment: "default" },
      evaluators: [{ evaluator: "judge", profile_name: "system:is-concise" }],
    });
    expect((await runs.end(id)).status).toBe("finished");
  });
  const [run] = named(spans, "invoke_workflow");
  expect(run && attributesOf(run)).toMatchObject({
    "gen_ai.operation.name": "invoke_workflow",
    "gen_ai.workflow.name": "nightly",
  });
  const steps = named(spans, "run step");
  expect(steps.map((step) => attributesOf(step)["presage.sample.id"]).sort()).toEqual(["t/0", "t/1"]);
  for (const step of steps) {
    expect(step.parentSpanId).toBeUndefined();
    expect(step.traceId).not.toBe(run?.traceId ?? "");
    expect(step.links).toMatchObject([{ traceId: run?.traceId, spanId: run?.spanId }]);
    const below = spans.filter(({ traceId }) => traceId === step.traceId);
    const [judge] = named(below, "evaluate judge");
    expect(judge?.parentSpanId).toBe(step.spanId);
    expect(
      named(below, "chat test-model")
        .map(({ parentSpanId }) => parentSpanId)
        .sort(),
    ).toEqual([step.spanId, judge?.spanId ?? ""].sort());
  }
});

test("a server that stops sends the spans of the run that it is at work on", async () => {
  const before = upstream.received.length;
  const spans = await spansOf(async (presage) => {
    upstream.answer = () => new Promise(() => {});
    const datasets = datasetClient(presage);
    const dataset = await datasets.create();
    const interaction = { state: "the secret state", action: "the secret action" };
    await datasets.uploadNew(dataset, [
      { trajectory_id: "t", step: 0, interaction, next_state: "the secret next state" },
    ]);
    await runClient(presage).create({
      name: "cut off",
      dataset_id: dataset,
      target: { deployment: "default" },
    });
    await eventually(
      () => upstream.received.length,
      (count) => count > before,
    );
  });
  for (const name of ["invoke_workflow", "run step", "chat"])
    expect({ name, spans: named(spans, name).length }).toEqual({ name, spans: 1 });
});
