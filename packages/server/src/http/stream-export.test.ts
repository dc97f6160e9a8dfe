import { afterAll, expect, test } from "bun:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { KeptResult } from "../evaluation/results/evaluation-record.ts";
import { exportFormat } from "./export-format.ts";
import { type FindPage, streamExport } from "./stream-export.ts";

let findPage: FindPage;
const broken: unknown[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async () =>
    new Response(await streamExport(findPage, await exportFormat("jsonl"), (error) => broken.push(error))),
  error: () => new Response(null, { status: 500 }),
});
afterAll(() => server.stop(true));

function pageAfter(last: KeptResult | undefined, length: number, text = "out"): KeptResult[] {
  return Array.from({ length }, (_, index) => ({
    id: (last?.id ?? 0) + index + 1,
    createdAt: 0,
    accountId: "account",
    evaluatorId: "evaluator",
    explainStrategy: "never",
    isExternal: true,
    sample: { output: text },
    filing: { app: "default" },
    finding: { status: "success" },
  }));
}

test("an export whose last page is full ends like any other", async () => {
  findPage = async (last, limit) => (last === undefined ? pageAfter(last, limit) : []);
  const text = await (await fetch(server.url)).text();
  expect(text.trimEnd().split("\n")).toHaveLength(100);
});

test("a failure before the first page has a status", async () => {
  findPage = async () => {
    throw new Error("the store is gone");
  };
  expect((await fetch(server.url)).status).toBe(500);
});

test("a failure in the middle breaks the connection instead of ending the export", async () => {
  findPage = async (last, limit) => {
    if ((last?.id ?? 0) >= 300) throw new Error("the store is gone");
    return pageAfter(last, limit);
  };
  const response = await fetch(server.url);
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow();
  expect(broken).toEqual([new Error("the store is gone")]);
});

test("a result that cannot be written is heard of as well", async () => {
  broken.length = 0;
  findPage = async (last, limit) =>
    pageAfter(last, limit).map((result) => (result.id > 100 ? { ...result, createdAt: Number.NaN } : result));
  await expect(fetch(server.url).then((response) => response.text())).rejects.toThrow();
  expect(broken).toEqual([expect.any(RangeError)]);
});

test("pages are read as they are taken, and no more once the caller hangs up", async () => {
  let pages = 0;
  findPage = async (last, limit) => {
    pages += 1;
    return pageAfter(last, limit, "x".repeat(50_000));
  };
  const caller = new AbortController();
  const response = await fetch(server.url, { signal: caller.signal });
  await response.body?.getReader().read();
  await sleep(300);
  // The rest waits in the system's own buffers, which hold a few megabytes.
  expect(pages).toBeLessThan(10);
  caller.abort();
  await sleep(100);
  const whenGone = pages;
  await sleep(200);
  expect(pages).toBe(whenGone);
});
