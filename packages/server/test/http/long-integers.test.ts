import { beforeEach, expect, test } from "bun:test";
import type { ValidationError } from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const long = "9007199254740993";
const interaction = '"interaction":{"state":"a hall","action":"look"}';

const upstream = useUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url });
beforeEach(() => {
  upstream.received.length = 0;
});

/** With and without a long text, which is parsed differently. */
const sizes = ["", `"padding":"${"x".repeat(100_000)}",`];

const evaluate = '"evaluators":[{"evaluator":"exact-match"}],"evaluated_model_output":"x"';
const wanted: [path: string, body: string, loc: ValidationError["loc"], type: string][] = [
  ["/v1/predict", long, ["body"], "model_attributes_type"],
  ["/v1/predict", `{"interaction":${long}}`, ["body", "interaction"], "model_attributes_type"],
  ["/v1/predict", `{${interaction},"context":${long}}`, ["body", "context"], "model_attributes_type"],
  ["/v1/predict", `{${interaction},"params":${long}}`, ["body", "params"], "model_attributes_type"],
  [
    "/v1/predict",
    `{${interaction},"params":{"enable_thinking":${long}}}`,
    ["body", "params", "enable_thinking"],
    "bool_type",
  ],
  ["/v1/chat/completions", `{"messages":[${long}]}`, ["body", "messages", 0], "model_attributes_type"],
  ["/v1/chat/completions", `{${interaction},"params":${long}}`, ["body", "params"], "model_attributes_type"],
  ["/v1/evaluate", `{${evaluate},"tags":${long}}`, ["body", "tags"], "dict_type"],
  [
    "/v1/evaluate",
    `{${evaluate},"evaluated_model_params":${long}}`,
    ["body", "evaluated_model_params"],
    "dict_type",
  ],
  [
    "/v1/evaluate",
    `{"evaluated_model_output":"x","evaluators":[${long}]}`,
    ["body", "evaluators", 0],
    "model_attributes_type",
  ],
  [
    "/v1/evaluation-results/batch",
    `{"evaluation_results":[${long}]}`,
    ["body", "evaluation_results", 0],
    "model_attributes_type",
  ],
  ["/v1/evaluation-results/search", `{"tags":${long}}`, ["body", "tags"], "dict_type"],
  ["/v1/evaluation-results/summary", `{"group_by":${long}}`, ["body", "group_by"], "list_type"],
  [
    "/v1/error-taxonomy-revision",
    `{"error_taxonomy_name":"a","body":${long}}`,
    ["body", "body"],
    "dict_type",
  ],
  [
    "/v1/error-taxonomy-revision",
    `{"error_taxonomy_name":"a","body":[],"metadata":${long}}`,
    ["body", "metadata"],
    "dict_type",
  ],
  [
    "/v1/evaluator-profiles",
    `{"evaluator_family":"exact-match","name":"a","config":${long}}`,
    ["body", "config"],
    "dict_type",
  ],
  ["/v1/api-keys", `{"name":${long}}`, ["body", "name"], "string_type"],
];

test.each(wanted)("%s rejects %s", async (path, body, loc, type) => {
  for (const number of [long, `-${long}`, "9".repeat(400)]) {
    const answer = await presage.call("POST", path, body.replace(long, number));
    const { detail } = (await answer.json()) as { detail: ValidationError[] };
    expect([answer.status, detail]).toEqual([
      422,
      expect.arrayContaining([expect.objectContaining({ loc, type })]),
    ]);
  }
  expect(upstream.received).toHaveLength(0);
});

test("A long integer in an unknown field is forwarded digit for digit at any depth", async () => {
  for (const padding of sizes) {
    const params = `{${padding}"seed":${long},"x":{"y":[-${long},{"z":${"9".repeat(400)}}]},"huge":1e999}`;
    const sent = `"seed":${long},"x":{"y":[-${long},{"z":${"9".repeat(400)}}]},"huge":1e999`;
    for (const [path, body] of [
      ["/v1/predict", `{${interaction},"params":${params}}`],
      ["/v1/chat/completions", `{${interaction},"params":${params}}`],
      ["/v1/chat/completions", params.replace("{", '{"messages":[{"role":"user","content":"hi"}],')],
    ] as const) {
      expect((await presage.call("POST", path, body)).status).toBe(200);
      const text = upstream.received.at(-1)?.text ?? "";
      expect(text).toContain(sent);
      expect(text).not.toContain("rawJSON");
    }
  }
});

test("A long number where a number is expected is validated like any other", async () => {
  for (const [params, status] of [
    [`{"temperature":${long}}`, 200],
    [`{"top_p":${long}}`, 422],
    [`{"max_tokens":${long}}`, 422],
    [`{"temperature":-${long}}`, 422],
  ] as const) {
    const answer = await presage.call("POST", "/v1/predict", `{${interaction},"params":${params}}`);
    expect(answer.status).toBe(status);
  }
  expect(upstream.received[0]?.text).toContain(`"temperature":${long}`);
  const search = `{"score_raw_min":${long},"after_id":${long}}`;
  const found = await presage.call("POST", "/v1/evaluation-results/search", search);
  expect([found.status, await found.json()]).toEqual([200, { results: [] }]);
});

test("Stored values keep their digits", async () => {
  const created = await presage.call(
    "POST",
    "/v1/error-taxonomy-revision",
    `{"error_taxonomy_name":"digits","body":{"id":${long}},"metadata":{"a":[${long}]}}`,
  );
  expect(created.status).toBe(201);
  const text = await created.text();
  expect(text).toContain(`"body":{"id":${long}}`);
  expect(text).toContain(`"metadata":{"a":[${long}]}`);
});
