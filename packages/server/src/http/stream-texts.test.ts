import { afterAll, expect, test } from "bun:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { StoredResult } from "../results/result.ts";
import { exportFormat, exportTexts } from "../results/search/search-route.ts";
import { streamTexts } from "./response.ts";

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
