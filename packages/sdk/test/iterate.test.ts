import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { createPresage } from "../src/create-presage.ts";
import { readAllOffsets } from "../src/paging.ts";
import { caught } from "./support/caught.ts";
import { json, type Received, startScriptedServer } from "./support/scripted-server.ts";

const server = startScriptedServer();
const presage = createPresage({ baseUrl: server.url, apiKey: "a-key" });
afterAll(() => server.stop());

let ids: number[] = [];

/** Searches as the server does: by id, in the requested order. */
function respond({ body }: Received): Response {
  const { order, limit, after_id, before_id } = body as Record<string, string | number | undefined>;
  const fitting = ids
    .filter((id) => id > Number(after_id ?? 0) && id < Number(before_id ?? Number.POSITIVE_INFINITY))
    .sort((a, b) => (order === "created_at" ? a - b : b - a));
  return Response.json({ results: fitting.slice(0, Number(limit)).map((id) => ({ id: String(id) })) });
}

const bodies = () => server.received.map(({ body }) => body);

async function take(results: AsyncIterable<{ id: string | null }>): Promise<number[]> {
  const taken: number[] = [];
  for await (const { id } of results) taken.push(Number(id));
  return taken;
}

describe("iterating over results", () => {
  beforeEach(() => {
    ids = Array.from({ length: 250 }, (_, index) => index + 1);
    server.script(respond);
  });

  test("requests each page by the last id of the one before", async () => {
    expect(await take(presage.results.iterate({ app: "a" }))).toEqual(ids.toReversed());
    expect(bodies()).toEqual([
      { app: "a", limit: 100 },
      { app: "a", limit: 100, before_id: "151" },
      { app: "a", limit: 100, before_id: "51" },
    ]);
  });

  test("goes from old to new on request, within the filter's bounds", async () => {
    const filter = { order: "created_at", after_id: 5, before_id: "12" } as const;
    expect(await take(presage.results.iterate(filter, { pageSize: 4 }))).toEqual([6, 7, 8, 9, 10, 11]);
    expect(bodies()).toEqual([
      { ...filter, limit: 4 },
      { ...filter, limit: 4, after_id: "9" },
    ]);
  });

  test("ends after a full last page, and without any result", async () => {
    ids = [1, 2];
    expect(await take(presage.results.iterate({}, { pageSize: 2 }))).toEqual([2, 1]);
    ids = [];
    expect(await take(presage.results.iterate())).toEqual([]);
  });

  test("neither repeats nor misses results when others arrive meanwhile", async () => {
    const seen: number[] = [];
    for await (const { id } of presage.results.iterate({}, { pageSize: 10 })) {
      seen.push(Number(id));
      if (seen.length % 10 === 0) ids.push(1000 + seen.length);
    }
    expect(seen).toEqual(Array.from({ length: 250 }, (_, index) => 250 - index));
  });

  test("requests smaller pages if one is too large for a response", async () => {
    const tooLarge = json({ detail: "The page is too large." }, 413);
    server.script((received) => {
      const { limit } = received.body as { limit: number };
      return limit > 30 ? tooLarge(received) : respond(received);
    });
    expect(await take(presage.results.iterate())).toEqual(ids.toReversed());
    expect(bodies().slice(0, 4)).toEqual([
      { limit: 100 },
      { limit: 50 },
      { limit: 25 },
      { limit: 25, before_id: "226" },
    ]);
  });

  test("gives up if not even one result fits", async () => {
    server.script(json({ detail: "no" }, 413));
    expect((await caught(take(presage.results.iterate({}, { pageSize: 2 })))).status).toBe(413);
    expect(bodies()).toEqual([{ limit: 2 }, { limit: 1 }]);
  });

  test("requests no page that is not read", async () => {
    for await (const { id } of presage.results.iterate()) if (id === "200") break;
    expect(server.received).toHaveLength(1);
  });

  test("throws what the search throws, and requests nothing before the first read", async () => {
    server.script(json({ detail: "no" }, 401));
    const results = presage.results.iterate();
    expect(server.received).toHaveLength(0);
    expect((await caught(take(results))).category).toBe("unauthenticated");
  });
});

describe("paged lists", () => {
  const key = (id: number) => ({ id: String(id) });

  test("are read to their end", async () => {
    server.script(
      () => Response.json({ data: [key(3), key(2)], next: "2.b" }),
      () => Response.json({ data: [key(1)], next: null }),
    );
    expect((await presage.apiKeys.list()).map(({ id }) => id)).toEqual(["3", "2", "1"]);
    expect(server.received.map(({ target }) => target)).toEqual(["/v1/api-keys", "/v1/api-keys?after=2.b"]);
    server.script(
      () => Response.json({ apps: [{ name: "a b" }], next: "a b" }),
      () => Response.json({ apps: [{ name: "c" }], next: null }),
    );
    expect(await presage.apps.list()).toEqual([{ name: "a b" }, { name: "c" }]);
    expect(server.received.at(-1)?.target).toBe("/v1/apps?after=a+b");
  });

  test("end if an older server sends no next", async () => {
    server.script(() => Response.json({ data: [key(1)] }));
    expect(await presage.sessions.list()).toHaveLength(1);
    const yielded = [];
    server.script(() => Response.json({ data: [{ id: "a" }] }));
    for await (const one of presage.datasets.iterateSamples("d", { revision: 1 })) yielded.push(one);
    expect(yielded).toHaveLength(1);
  });
});

test("an item that a new one moves to the next page is listed once", async () => {
  const items = Array.from({ length: 1_500 }, (_, index) => ({ id: `p${index}` }));
  const all = await readAllOffsets(async ({ limit, offset }) => {
    const page = items.slice(offset, offset + limit);
    if (offset === 0) items.unshift({ id: "new" });
    return page;
  });
  expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 1_500 }, (_, index) => `p${index}`));
});
