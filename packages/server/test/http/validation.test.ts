import { describe, expect, test } from "bun:test";
import { HTTPValidationError, ValidationError } from "@presage/contract";
import { z } from "zod";
import { usePresage } from "../support/presage/use-presage.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const sharedCases = (await Bun.file(new URL("validation-cases.jsonl", import.meta.url)).text())
  .trim()
  .split("\n");

const upstream = useUpstream();
const presage = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url });
const openAi = usePresage({ PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_CHAT_COMPATIBILITY: "openai" });

/** How a server in OpenAI's mode answers differently: the issue, or undefined if it accepts the request. */
const otherwise: Record<string, Partial<ValidationError> | undefined> = {
  // Tool messages are forwarded.
  "shared-026": undefined,
  // Null counts as absent.
  "shared-028": { type: "missing", loc: ["body", "messages", 0, "content"], msg: "Field required" },
};

const sample = { evaluators: [{ evaluator: "regex" }], evaluated_model_output: "x" };
const interaction = { state: "You are in the hall.", action: "go north" };
const messages = [{ role: "user", content: "Hello." }];
const notAnObject = "Input should be a valid dictionary or object to extract fields from";

const cases: [name: string, path: string, body: unknown, issues: Partial<ValidationError>[]][] = [
  [
    "a fraction where an integer is expected",
    "/v1/predict",
    { interaction, params: { top_k: 2.5 } },
    [
      {
        type: "int_type",
        loc: ["body", "params", "top_k"],
        msg: "Input should be a valid integer",
        input: 2.5,
      },
    ],
  ],
  [
    "a null where the contract allows none",
    "/v1/predict",
    { interaction, params: { max_tokens: null } },
    [{ type: "int_type", loc: ["body", "params", "max_tokens"], input: null }],
  ],
  [
    "a boolean for a number",
    "/v1/predict",
    { interaction, params: { temperature: true } },
    [
      {
        type: "float_type",
        loc: ["body", "params", "temperature"],
        msg: "Input should be a valid number",
        input: true,
      },
    ],
  ],
  [
    "a list where the context should be",
    "/v1/predict",
    { interaction, context: [] },
    [{ type: "model_attributes_type", loc: ["body", "context"], msg: notAnObject, input: [] }],
  ],
  [
    "a JSON null as the body",
    "/v1/predict",
    null,
    [{ type: "missing", loc: ["body"], msg: "Field required", input: null }],
  ],
  [
    "issues in several places, all in one response",
    "/v1/predict",
    { interaction: { state: "", extra: 1 }, context: { task_context: 1, more: 2 }, params: { top_p: 0 } },
    [
      { type: "string_too_short", loc: ["body", "interaction", "state"], ctx: { min_length: 1 } },
      { type: "missing", loc: ["body", "interaction", "action"], input: { state: "", extra: 1 } },
      { type: "extra_forbidden", loc: ["body", "interaction", "extra"], input: 1 },
      { type: "string_type", loc: ["body", "context", "task_context"], input: 1 },
      { type: "extra_forbidden", loc: ["body", "context", "more"], input: 2 },
      { type: "greater_than", loc: ["body", "params", "top_p"], ctx: { gt: 0 } },
    ],
  ],
  [
    "an unknown role, deep in a list",
    "/v1/chat/completions",
    { messages: [...messages, { role: "function", content: "x" }] },
    [
      {
        type: "literal_error",
        loc: ["body", "messages", 1, "role"],
        msg: "Input should be 'system', 'user' or 'assistant'",
        input: "function",
      },
    ],
  ],
  [
    "a top-level sampling field out of range",
    "/v1/chat/completions",
    { messages, top_p: 1.5 },
    [{ type: "less_than_equal", loc: ["body", "top_p"], ctx: { le: 1 }, input: 1.5 }],
  ],
  [
    "null messages",
    "/v1/chat/completions",
    { messages: null },
    [{ type: "list_type", loc: ["body", "messages"], msg: "Input should be a valid list", input: null }],
  ],
  [
    "an expiry that is not a date-time",
    "/v1/api-keys",
    { name: "k", expires_at: "tomorrow" },
    [{ type: "datetime_from_date_parsing", loc: ["body", "expires_at"], input: "tomorrow" }],
  ],
  [
    "an expiry that is a number",
    "/v1/api-keys",
    { name: "k", expires_at: 1 },
    [{ type: "datetime_type", loc: ["body", "expires_at"], input: 1 }],
  ],
  [
    "an invalid item of a list that may also be a string",
    "/v1/evaluate",
    { ...sample, evaluated_model_retrieved_context: ["x", 1] },
    [{ type: "string_type", loc: ["body", "evaluated_model_retrieved_context", 1], input: 1 }],
  ],
  [
    "a list that is too long where a string is also allowed",
    "/v1/evaluate",
    { ...sample, retrieved_context: Array(51).fill("x") },
    [
      {
        type: "too_long",
        loc: ["body", "retrieved_context"],
        ctx: { field_type: "List", max_length: 50, actual_length: 51 },
      },
    ],
  ],
  [
    "an unknown word where a boolean is also allowed",
    "/v1/evaluate",
    { ...sample, explain: "always" },
    [
      {
        type: "literal_error",
        loc: ["body", "explain"],
        msg: "Input should be 'on-fail' or 'on-success'",
        input: "always",
      },
    ],
  ],
  [
    "a value that matches no branch of a union",
    "/v1/evaluate",
    { ...sample, explain: 1, evaluated_model_retrieved_context: {}, dataset_sample_id: [] },
    [
      {
        type: "bool_type",
        loc: ["body", "explain"],
        msg: "Input should be a valid boolean or 'on-fail' or 'on-success'",
      },
      {
        type: "string_type",
        loc: ["body", "evaluated_model_retrieved_context"],
        msg: "Input should be a valid string or a valid list",
      },
      {
        type: "int_type",
        loc: ["body", "dataset_sample_id"],
        msg: "Input should be a valid integer or a valid string",
        input: [],
      },
    ],
  ],
  [
    "a fraction where an integer or a text should be",
    "/v1/evaluate",
    { ...sample, dataset_sample_id: 1.5 },
    [
      {
        type: "int_type",
        loc: ["body", "dataset_sample_id"],
        msg: "Input should be a valid integer",
        input: 1.5,
      },
    ],
  ],
  [
    "invalid ids",
    "/v1/evaluation-results/search",
    { after_id: true, before_id: 1.5 },
    [
      { type: "int_type", loc: ["body", "after_id"], msg: "Input should be a valid integer", input: true },
      { type: "int_type", loc: ["body", "before_id"], msg: "Input should be a valid integer", input: 1.5 },
    ],
  ],
  [
    "an id below the minimum, and a string that is not an id",
    "/v1/evaluation-results/search",
    { after_id: -1, before_id: "1.5" },
    [
      { type: "greater_than_equal", loc: ["body", "after_id"], ctx: { ge: 0 }, input: -1 },
      { type: "int_parsing", loc: ["body", "before_id"], input: "1.5" },
    ],
  ],
];

const SharedCase = z.object({
  id: z.string(),
  method: z.string(),
  path: z.string(),
  /** The body, sent as JSON. */
  body: z.unknown().optional(),
  /** The body, sent unchanged. */
  raw: z.string().optional(),
  status: z.int(),
  detail: z.array(ValidationError),
});

/** Leaves out the message of issues for which Presage does not repeat pydantic's own reason. */
function comparable({ type, loc, ...rest }: ValidationError) {
  if (type === "json_invalid") return { type, loc: loc.slice(0, 1), msg: rest.msg };
  return /^(uuid_parsing|datetime_)/.test(type) ? { type, loc } : { type, loc, ...rest };
}

describe("A case shared with other servers has its exact response:", () => {
  for (const line of sharedCases) {
    const { id, method, path, body, raw, status, detail } = SharedCase.parse(JSON.parse(line));
    const sent = raw ?? (body === undefined ? body : JSON.stringify(body));

    async function expectResponse({ call }: Pick<typeof presage, "call">) {
      const response = await call(method, path, sent);
      expect(response.status).toBe(status);
      const found = HTTPValidationError.parse(await response.json()).detail.map(comparable);
      expect(found).toHaveLength(detail.length);
      expect(found).toEqual(expect.arrayContaining(detail.map(comparable)));
    }

    test(`${id} ${method} ${path}`, () => expectResponse(presage));

    test(`${id} ${method} ${path}, compatible with OpenAI's clients`, async () => {
      if (!Object.hasOwn(otherwise, id)) return await expectResponse(openAi);
      const response = await openAi.call(method, path, sent);
      const issue = otherwise[id];
      expect(response.status).toBe(issue === undefined ? 200 : 422);
      if (issue !== undefined)
        expect(await response.json()).toMatchObject({ detail: [expect.objectContaining(issue)] });
    });
  }
});

describe("422 in pydantic's words for", () => {
  for (const [name, path, body, issues] of cases) {
    test(name, async () => {
      const answer = await presage.call("POST", path, body);
      expect(answer.status).toBe(422);
      const { detail } = (await answer.json()) as { detail: ValidationError[] };
      expect(detail).toHaveLength(issues.length);
      for (const issue of issues) expect(detail).toContainEqual(expect.objectContaining(issue));
    });
  }

  test("a body that is not JSON", async () => {
    for (const text of ["{", '{"a":}', "nothing", "{'a':1}"]) {
      const answer = await presage.call("POST", "/v1/predict", text);
      const { detail } = (await answer.json()) as { detail: ValidationError[] };
      expect([answer.status, detail.length]).toEqual([422, 1]);
      expect(detail[0]).toMatchObject({ type: "json_invalid", msg: "JSON decode error" });
      expect(detail[0]?.loc[0]).toBe("body");
    }
  });

  test("a key id that is not a UUID", async () => {
    const answer = await presage.call("DELETE", "/v1/api-keys/1234");
    const { detail } = (await answer.json()) as { detail: ValidationError[] };
    expect(answer.status).toBe(422);
    expect(detail).toEqual([
      expect.objectContaining({ type: "uuid_parsing", loc: ["path", "key_id"], input: "1234" }),
    ]);
  });
});

test("a body is read as JSON whatever its content type", async () => {
  const headers = {
    "x-api-key": "bootstrap-key-of-the-tests-0123456789",
    "content-type": "application/x-www-form-urlencoded",
  };
  const answer = await presage.call("POST", "/v1/predict", JSON.stringify({ interaction }), headers);
  expect(answer.status).toBe(200);
});
