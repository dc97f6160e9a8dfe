import { expect, test } from "bun:test";
import { type RequestRecord, requestLine } from "./logger.ts";

const at = new Date(2026, 4, 1, 19, 17, 3);
const prediction: RequestRecord = {
  requestId: crypto.randomUUID(),
  keyId: crypto.randomUUID(),
  sessionId: undefined,
  method: "POST",
  route: "/v1/predict",
  status: 200,
  totalMs: 41.87,
  upstreamMs: 40.2,
  promptTokens: 17,
  completionTokens: 5,
  cache: undefined,
  category: undefined,
};
const line = (more: Partial<RequestRecord> = {}, keyName?: string) =>
  requestLine({ ...prediction, ...more }, { keyName }, at);

test("says what was called, how it ended, how long it took, its tokens and the key", () => {
  expect(line({}, "training")).toBe('19:17:03 POST /v1/predict 200 42 ms 17→5 tokens "training"');
});

test("leaves out what does not apply", () => {
  const none = { promptTokens: undefined, completionTokens: undefined };
  expect(line({ ...none, method: "GET", route: "/v1/me", totalMs: 0.432 })).toBe(
    "19:17:03 GET /v1/me 200 0.4 ms",
  );
  expect(line({ ...none, status: 504, category: "timeout", totalMs: 30_012 })).toBe(
    "19:17:03 POST /v1/predict 504 timeout 30.0 s",
  );
  expect(line({ completionTokens: undefined })).toEndWith(" 17→? tokens");
});

test.each([
  "x".repeat(120),
  "訓練".repeat(60),
  "👩‍👩‍👧‍👦".repeat(60),
  "\u001b[31m".repeat(30),
  "e\u0301".repeat(60),
])("takes at most 120 columns with a key named %j", (keyName) => {
  const long = line({ route: "/v1/error-taxonomy-revision/:revision_id/set-labels" }, keyName);
  expect(Bun.stringWidth(long)).toBeLessThanOrEqual(120);
  expect(long).toStartWith(
    '19:17:03 POST /v1/error-taxonomy-revision/:revision_id/set-labels 200 42 ms 17→5 tokens "',
  );
});

test("is one line without control characters, whatever the key is called", () => {
  expect(line({}, 'a\nb\u001b[31m\u202e"c"')).toEndWith(' "a\\nb\\u001b[31m\\u{202e}\\"c\\""');
});
