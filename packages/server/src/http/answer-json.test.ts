import { expect, test } from "bun:test";
import { answerJson, isLongAnswer } from "./answer-json.ts";

const long = `"A door" – 🚪\n\\u0000 `.repeat(50_000);

test("A long value is answered as the same JSON as ever, in pieces", async () => {
  const inner = { long, short: 'a " quote', number: 1.5, nothing: null, list: [long, "x", `${long}!`] };
  const value = {
    results: [{ one: inner, two: inner }],
    absent: undefined,
    [`key ${"k".repeat(20_000)}`]: long,
  };
  expect(isLongAnswer(value)).toBe(true);
  const response = answerJson(value, { status: 201, headers: { "x-a": "b" } });
  const pieces: number[] = [];
  const bytes: Uint8Array[] = [];
  for await (const piece of response.body ?? []) {
    pieces.push(piece.length);
    bytes.push(piece);
  }
  expect(Buffer.concat(bytes).toString()).toBe(JSON.stringify(value));
  expect(Math.max(...pieces)).toBeLessThanOrEqual(1024 * 1024);
  expect(response.status).toBe(201);
  expect(response.headers.get("x-a")).toBe("b");
  expect(response.headers.get("content-type")).toBe("application/json;charset=utf-8");
});

test("A long integer among long texts keeps its digits", async () => {
  const seed = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON("9007199254740993");
  const value = { long: long.repeat(2), params: { seed } };
  expect(await answerJson(value).text()).toEndWith('"params":{"seed":9007199254740993}}');
});

test("A short value is answered at once", async () => {
  const value = { a: [1, "two", null] };
  expect(isLongAnswer(value)).toBe(false);
  const response = answerJson(value);
  expect(await response.json()).toEqual(value);
});
