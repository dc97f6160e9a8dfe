import { expect, test } from "bun:test";
import { isLongResponse, jsonResponse } from "./response.ts";

const long = `"A door" – 🚪\n\\u0000 `.repeat(50_000);

function fail(error: unknown): never {
  throw error;
}

test("A long value is written in pieces, as the same JSON", async () => {
  const inner = { long, short: 'a " quote', number: 1.5, nothing: null, list: [long, "x", `${long}!`] };
  const value = {
    results: [{ one: inner, two: inner }],
    absent: undefined,
    [`key ${"k".repeat(20_000)}`]: long,
  };
  expect(isLongResponse(value)).toBe(true);
  const response = jsonResponse(value, { status: 201, headers: { "x-a": "b" } }, fail);
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
  expect(await jsonResponse(value, undefined, fail).text()).toEndWith('"params":{"seed":9007199254740993}}');
});

test("A short value is written at once", async () => {
  const value = { a: [1, "two", null] };
  expect(isLongResponse(value)).toBe(false);
  const response = jsonResponse(value, undefined, fail);
  expect(await response.json()).toEqual(value);
});

test("A long response of short texts is written in small pieces as well, whatever it contains", async () => {
  const value = {
    none: [],
    empty: {},
    list: Array.from({ length: 50_000 }, (_, at) => [String(at), undefined, null, { at, absent: undefined }]),
    texts: Array.from({ length: 50 }, () => "\u0001".repeat(16_000)),
    keyed: Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`key "${at}"`, long.slice(0, at)])),
    deep: Array.from({ length: 250 }).reduce((inner) => [inner, "a".repeat(100)], ["b".repeat(100_000)]),
  };
  const pieces: Uint8Array[] = [];
  for await (const piece of jsonResponse(value, undefined, fail).body ?? []) pieces.push(piece);
  expect(Buffer.concat(pieces).toString()).toBe(JSON.stringify(value));
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(256 * 1024);
});

test("A value that cannot be written breaks the response off, and is reported", async () => {
  const errors: unknown[] = [];
  const value = { long, unwritable: 1n };
  const response = jsonResponse(value, undefined, (error) => errors.push(error));
  expect(await response.text().catch(() => "broken")).toBe("broken");
  expect(errors).toHaveLength(1);
});
