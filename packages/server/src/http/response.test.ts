import { afterAll, expect, test } from "bun:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { StoredResult } from "../results/result.ts";
import { exportFormat, exportTexts } from "../results/search/search-route.ts";
import { isLongResponse, jsonResponse, streamTexts } from "./response.ts";

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

type Pieces = AsyncGenerator<StoredResult[], void>;

let pieces: () => Pieces;
const broken: unknown[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async () =>
    new Response(
      await streamTexts(exportTexts(pieces(), await exportFormat("jsonl")), (error) => broken.push(error)),
    ),
  error: () => new Response(null, { status: 500 }),
});
afterAll(() => server.stop(true));

function piece(firstId: number, text = "out"): StoredResult[] {
  return Array.from({ length: 100 }, (_, index) => ({
    id: firstId + index,
    createdAt: 0,
    accountId: "account",
    evaluatorId: "evaluator",
    explainStrategy: "never",
    isExternal: true,
    sample: { output: text },
    metadata: { app: "default" },
    outcome: { status: "success" },
  }));
}

test("an export is all its pieces, in their order", async () => {
  pieces = async function* (): Pieces {
    yield piece(1);
    yield piece(101);
  };
  const text = await (await fetch(server.url)).text();
  const ids = text.trimEnd().split("\n");
  expect(ids.map((line) => JSON.parse(line).id)).toEqual(
    Array.from({ length: 200 }, (_, index) => String(index + 1)),
  );
});

test("an export of nothing is empty", async () => {
  pieces = async function* (): Pieces {};
  const response = await fetch(server.url);
  expect([response.status, await response.text()]).toEqual([200, ""]);
});

test("a failure before the first piece has a status", async () => {
  // biome-ignore lint/correctness/useYield: it fails before it comes to that.
  pieces = async function* (): Pieces {
    throw new Error("the database is down");
  };
  expect((await fetch(server.url)).status).toBe(500);
});

test("a failure in the middle breaks the connection instead of ending the export", async () => {
  pieces = async function* (): Pieces {
    yield piece(1);
    yield piece(101);
    throw new Error("the database is down");
  };
  const response = await fetch(server.url);
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow();
  expect(broken).toEqual([new Error("the database is down")]);
});

test("a result that cannot be written is reported as well", async () => {
  broken.length = 0;
  pieces = async function* (): Pieces {
    yield piece(1);
    yield piece(101).map((result) => ({ ...result, createdAt: Number.NaN }));
  };
  await expect(fetch(server.url).then((response) => response.text())).rejects.toThrow();
  expect(broken).toEqual([expect.any(RangeError)]);
});

test("pieces are read as the client takes them, and none once it has disconnected", async () => {
  let read = 0;
  pieces = async function* (): Pieces {
    for (;;) {
      read += 1;
      yield piece(read * 100, "x".repeat(50_000));
    }
  };
  const caller = new AbortController();
  const response = await fetch(server.url, { signal: caller.signal });
  await response.body?.getReader().read();
  await sleep(150);
  // The rest waits in the system's own buffers, which hold a few megabytes.
  expect(read).toBeLessThan(10);
  caller.abort();
  await sleep(100);
  const whenGone = read;
  await sleep(100);
  expect(read).toBe(whenGone);
});
