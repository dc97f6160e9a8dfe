import { describe, expect, test } from "bun:test";
import { checkCompletion } from "./completion.ts";
import {
  classifyCarriedError,
  classifyError,
  retryAfterMs,
  type UnreachableReason,
  unreachableReason,
} from "./failures.ts";

const cases: [name: string, status: number, body: unknown, category: string][] = [
  [
    "vLLM says the prompt is longer than the model",
    400,
    { message: "The decoder prompt (length 9) is longer than the maximum model length of 8." },
    "context_exceeded",
  ],
  [
    "the prompt is longer than what is available now",
    400,
    {
      error: {
        message: "The prompt is longer than the context length currently available to the model.",
      },
    },
    "context_exceeded",
  ],
  [
    "LM Studio cannot keep the prompt",
    400,
    {
      error:
        "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length",
    },
    "context_exceeded",
  ],
  [
    "llama.cpp cannot shift its context",
    500,
    { error: { code: 500, message: "context shift is disabled", type: "server_error" } },
    "context_exceeded",
  ],
  [
    "Anthropic says that the prompt is too long",
    400,
    {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 9 tokens > 8 maximum" },
    },
    "context_exceeded",
  ],
  [
    "Gemini counts input tokens",
    400,
    {
      error: {
        code: 400,
        message: "The input token count (9) exceeds the maximum number of tokens allowed (8).",
      },
    },
    "context_exceeded",
  ],
  [
    "Gemini puts its error into a list",
    400,
    [{ error: { message: "maximum context length is 8 tokens" } }],
    "context_exceeded",
  ],
  [
    "OpenAI gives only the code",
    400,
    { error: { message: "Too much.", code: "context_length_exceeded" } },
    "context_exceeded",
  ],
  [
    "FastAPI's detail is a message",
    400,
    { detail: "maximum context length is 8 tokens" },
    "context_exceeded",
  ],
  [
    "an overflow outranks the status",
    500,
    { error: { message: "This model's maximum context length is 8 tokens." } },
    "context_exceeded",
  ],
  [
    "an overflow in an echoed prompt does not count",
    400,
    { error: { message: "bad request", input: "maximum context length" } },
    "upstream",
  ],
  ["an overflow in a page that is no JSON does not count", 400, "<p>maximum context length</p>", "upstream"],
  ["a list of issues is no message", 422, { detail: [{ msg: "maximum context length" }] }, "upstream"],
  ["a body that is a JSON string is no message", 400, '"maximum context length"', "upstream"],
  ["429", 429, "", "rate_limit"],
  ["503", 503, "", "unavailable"],
  ["529", 529, "", "unavailable"],
  ["408", 408, "", "timeout"],
  ["504", 504, "", "timeout"],
  ["522", 522, "", "timeout"],
  ["524", 524, "", "timeout"],
  ["413", 413, "", "context_exceeded"],
  ["404", 404, { error: { message: "The model `x` does not exist." } }, "upstream"],
  ["500", 500, "", "upstream"],
  ["302", 302, "", "upstream"],
];

describe("a response with another status than 2xx becomes", () => {
  for (const [name, status, body, category] of cases) {
    test(`${category}: ${name}`, () => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const error = classifyError({ status, body: text, retryAfter: "7" });
      expect(error.category).toBe(category as typeof error.category);
      expect(error.status).toBe(status);
      expect(error.retryAfter).toBe("7");
    });
  }
});

test("a 2xx with an error object is classified by its code", () => {
  const carried = (error: unknown) =>
    classifyCarriedError({ status: 200, body: "", retryAfter: undefined }, { error }).category;
  expect(carried({ code: 429, message: "slow down" })).toBe("rate_limit");
  expect(carried({ code: "503" })).toBe("unavailable");
  expect(carried({ message: "maximum context length is 8 tokens" })).toBe("context_exceeded");
  expect(carried({ message: "no code" })).toBe("upstream");
  expect(carried("just a text")).toBe("upstream");
});

test("an error that a 2xx carries is to be waited for as its Retry-After says", () => {
  const bytes = new TextEncoder().encode(JSON.stringify({ error: { code: 429 } }));
  expect(() => checkCompletion({ status: 200, bytes, retryAfter: "7", text: () => "" })).toThrow(
    expect.objectContaining({ category: "rate_limit", retryAfter: "7" }),
  );
});

test("of a long body 4,096 characters are kept", () => {
  expect(classifyError({ status: 500, body: "x".repeat(5_000), retryAfter: undefined }).body).toHaveLength(
    4_096,
  );
});

test("a character of a long body is kept whole or left out", () => {
  const body = `a${"😀".repeat(3_000)}`;
  const kept = classifyError({ status: 500, body, retryAfter: undefined }).body;
  expect(kept).toBe(body.slice(0, 4_095));
});

test("what a long body states is kept, though the body is cut", () => {
  const body = {
    request: "x".repeat(5_000),
    error: { message: "no", code: "content_filter", param: "tools" },
  };
  const error = classifyError({ status: 400, body: JSON.stringify(body), retryAfter: undefined });
  expect(error.body).toHaveLength(4_096);
  expect(error.stated).toEqual({ message: "no", code: "content_filter", type: undefined, param: "tools" });
});

test("a hostile message of a megabyte is classified at once", () => {
  const message = "input token count ".repeat(60_000);
  const startedAtMs = performance.now();
  expect(
    classifyError({ status: 500, body: JSON.stringify({ message }), retryAfter: undefined }).category,
  ).toBe("upstream");
  expect(performance.now() - startedAtMs).toBeLessThan(5_000);
});

test.each<[string, UnreachableReason]>([
  ["ECONNREFUSED", "refused"],
  ["ENOTFOUND", "name"],
  ["CERT_HAS_EXPIRED", "certificate"],
  ["CERT_NOT_YET_VALID", "certificate"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "certificate"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "certificate"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "certificate"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "certificate"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "certificate"],
  ["EPROTO", "tls"],
  ["something new", "other"],
  ["", "other"],
])("a connection that failed with %p failed for the reason %p", (code, reason) => {
  expect(unreachableReason(code)).toBe(reason);
});

test("Retry-After is a number of seconds", () => {
  expect(retryAfterMs("7")).toBe(7_000);
  expect(retryAfterMs("0.5")).toBe(500);
});

test("or a date", () => {
  const pauseMs = retryAfterMs(new Date(Date.now() + 60_000).toUTCString());
  expect(pauseMs).toBeGreaterThan(50_000);
  expect(pauseMs).toBeLessThanOrEqual(60_000);
});

test("There is no pause without one, for the past, and for anything else", () => {
  for (const asked of [undefined, "", "-7", "Sat, 21 Nov 2020 00:00:00 GMT", "soon"]) {
    expect(retryAfterMs(asked)).toBe(0);
  }
});
