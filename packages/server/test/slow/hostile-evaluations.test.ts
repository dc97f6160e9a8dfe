import { expect, test } from "bun:test";
import { startPresage } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationClient } from "../support/resources/evaluations.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const upstream = useUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url });
const { evaluate, post } = evaluationClient(() => presage);

let profiles = 0;
/** Creates a profile and returns a reference to it. */
async function profile(
  evaluator: string,
  config: unknown,
): Promise<{ evaluator: string; profile_name: string }> {
  const name = `profile ${++profiles}`;
  const response = await presage.call("POST", "/v1/evaluator-profiles", {
    evaluator_family: evaluator,
    name,
    config,
  });
  expect([response.status, response.ok ? "" : await response.text()]).toEqual([201, ""]);
  return { evaluator, profile_name: name };
}

/** Responses come well within this; the tests check that they come at all. */
const boundMs = 25_000;

async function outcomeOf(
  evaluator: { evaluator: string; profile_name?: string },
  output: string,
  gold?: string,
): Promise<string> {
  const startedAtMs = performance.now();
  const [item] = await evaluate({
    evaluators: [evaluator],
    evaluated_model_output: output,
    evaluated_model_gold_answer: gold,
    capture: "none",
  });
  expect(performance.now() - startedAtMs).toBeLessThan(boundMs);
  const verdict = item?.evaluation_result?.pass === true ? "pass" : "fail";
  return item?.status === "success" ? verdict : String(item?.error_message?.split(":")[0]);
}

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

test.each(["(a+)+$", "(a|a)*b", "(.*)*x", "(?:a{0,500}){0,2}c", "^(([a-z])+.)+[A-Z]([a-z])+$"])(
  "The pattern %s, which explodes in a backtracking engine, gets a verdict",
  async (pattern) => {
    const regex = await profile("regex", { pattern });
    expect(["pass", "fail"]).toContain(await outcomeOf(regex, "a".repeat(50_000)));
  },
  120_000,
);

test("Short texts with thousands of sentences, whose pairs would take seconds, are not compared", async () => {
  const pltrdy = { evaluator: "rouge-l", profile_name: "system:pltrdy" };
  const one = Array.from({ length: 1_000 }, (_, index) => `x y ${index}.`).join("");
  const other = Array.from({ length: 1_000 }, (_, index) => `y x ${-index}.`).join("");
  expect(await outcomeOf(pltrdy, one, other)).toBe("unusable_input");
  expect(await outcomeOf(pltrdy, other, one)).toBe("unusable_input");
}, 300_000);

test("A pattern that no linear-time engine can match is rejected at its field", async () => {
  const config = { pattern: "(a)\\1" };
  const response = await presage.call("POST", "/v1/evaluator-profiles", {
    evaluator_family: "regex",
    name: "backreference",
    config,
  });
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({ detail: [{ loc: ["body", "config", "pattern"] }] });
});

test("A schema with a hostile pattern gets a verdict", async () => {
  const schema = { type: "string", pattern: "^(a+)+$" };
  expect(
    await outcomeOf(await profile("json-schema", { schema }), JSON.stringify(`${"a".repeat(10_000)}!`)),
  ).toBe("fail");
}, 300_000);

test("A schema whose references multiply ends in time", async () => {
  const levels = 40;
  const definitions = Object.fromEntries(
    Array.from({ length: levels }, (_, level) => {
      const next = { $ref: `#/definitions/d${level + 1}` };
      return [`d${level}`, { allOf: [next, next] }];
    }),
  );
  const schema = { definitions: { ...definitions, [`d${levels}`]: {} }, $ref: "#/definitions/d0" };
  const response = await presage.call("POST", "/v1/evaluator-profiles", {
    evaluator_family: "json-schema",
    name: "references",
    config: { schema },
  });
  // Rejected on creation or killed at the deadline: both are bounded, and neither is a verdict.
  if (response.status === 201) {
    expect(await outcomeOf({ evaluator: "json-schema", profile_name: "references" }, "1")).toBe("timeout");
  } else expect(response.status).toBe(422);
}, 300_000);

test.each(["json-match", "json-schema", "state-change", "exact-match"])(
  "%s of JSON nested 10,000 deep gets an outcome",
  async (evaluator) => {
    const [item] = await evaluate({
      evaluators: [{ evaluator }],
      evaluated_model_input: nested(9_999),
      evaluated_model_output: nested(10_000),
      evaluated_model_gold_answer: nested(10_000),
      capture: "none",
    });
    expect(item?.status).not.toBe("failed");
  },
  120_000,
);

test("A body nested 10,000 deep is rejected", async () => {
  const response = await post(`{"evaluators":${nested(10_000)}}`);
  expect(response.status).toBe(422);
});

test("Long texts for many evaluators are rejected if the response would fill the memory", async () => {
  const small = await startPresage({ PRESAGE_MAX_BODY_BYTES: "100000" });
  const evaluateWith = (evaluators: number) =>
    small.call("POST", "/v1/evaluate", {
      evaluators: Array(evaluators).fill({ evaluator: "contains" }),
      evaluated_model_output: "x".repeat(60_000),
    });
  expect((await evaluateWith(3)).status).toBe(200);
  const refused = await evaluateWith(4);
  expect(refused.status).toBe(413);
  expect(await refused.json()).toStrictEqual({
    detail: expect.stringMatching(
      /4 evaluators × 60000 characters exceed the limit of 200000; use at most 3 evaluators/,
    ),
  });
  await small.stop();
});

test.each(["bleu", "json-match", "state-change"])(
  "%s fails for texts that it would expand to gigabytes",
  async (evaluator) => {
    const list = `[${"1,".repeat(1_500_000)}1]`;
    const [item] = await evaluate({
      evaluators: [{ evaluator }],
      evaluated_model_input: "[]",
      evaluated_model_output: list,
      evaluated_model_gold_answer: list,
      capture: "none",
    });
    expect(item).toMatchObject({ status: "validation_error", evaluation_result: null });
    expect(item?.error_message).toMatch(/^unusable_input: .* accepts at most 2500000 characters of text/);
  },
);

const megabyte = "The door is open. ".repeat(58_000);

test.each(["exact-match", "contains", "regex", "token-f1", "bleu", "numeric", "pii"])(
  "%s of texts of one megabyte gets a verdict",
  async (evaluator) => {
    const outcome = await outcomeOf({ evaluator }, `${megabyte}1`, `${megabyte}2`);
    expect(["pass", "fail"]).toContain(outcome);
  },
  120_000,
);

test.each(["edit-distance", "rouge-l"])(
  "%s of texts of one megabyte ends in time, with a verdict or an error",
  async (evaluator) => {
    const outcome = await outcomeOf({ evaluator }, `${megabyte}1`, `2${megabyte}`);
    expect(["pass", "fail", "timeout", "unusable_input"]).toContain(outcome);
  },
  120_000,
);

test("Predictions are served while six expensive evaluations run", async () => {
  const heavy = { evaluator: "edit-distance" };
  const running = evaluate({
    evaluators: Array(6).fill(heavy),
    evaluated_model_output: "ab".repeat(25_000),
    evaluated_model_gold_answer: "ba".repeat(25_000),
    capture: "none",
  });
  let isOver = false;
  void running.finally(() => {
    isOver = true;
  });
  let served = 0;
  while (!isOver && served < 200) {
    const response = await presage.call("POST", "/v1/predict", {
      interaction: { state: "a hall", action: "look" },
    });
    expect(response.status).toBe(200);
    served += 1;
  }
  // Evaluations on the main thread would each block one of these requests for their whole duration.
  expect(served).toBeGreaterThan(20);
  const items = await running;
  expect(new Set(items.map(({ status }) => status)).has("validation_error")).toBe(false);
}, 300_000);
