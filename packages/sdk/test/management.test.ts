import { afterAll, beforeAll, expect, test } from "bun:test";
import type { EvaluationResultDeletion } from "@presage/contract";
import { startPresage, type TestPresage, testKey } from "../../server/test/support/presage/presage.ts";
import { createPresage, type Presage } from "../src/create-presage.ts";
import { caught } from "./support/caught.ts";
import { json, startScriptedServer } from "./support/scripted-server.ts";

let server: TestPresage;
let presage: Presage;
beforeAll(async () => {
  server = await startPresage({});
  presage = createPresage({ baseUrl: server.url, apiKey: testKey });
});
afterAll(() => server.stop());

async function store(app: string, count: number): Promise<string[]> {
  const results = Array.from({ length: count }, () => ({
    evaluator_id: "mine",
    pass: true,
    app,
    tags: { app },
  }));
  const imported = await presage.results.importBatch(results);
  return imported.map(({ id }) => id ?? "");
}

test("one result is deleted, and those of a filter after they were counted", async () => {
  const [first = "", ...rest] = await store("old", 5);
  await store("new", 1);
  expect(await presage.results.delete(first)).toBeUndefined();
  expect((await caught(presage.results.get(first))).category).toBe("not_found");

  const filter = { app: "old", tags: { app: "old" }, pass: true };
  expect(await presage.results.countDeletable(filter)).toEqual({ count: rest.length, kept: 0 });
  expect(await caught(presage.results.deleteMatching(filter, rest.length + 1))).toMatchObject({
    category: "conflict",
  });
  expect(await presage.results.search(filter)).toHaveLength(rest.length);
  const { id, count } = await presage.results.deleteMatching(filter, rest.length);
  expect(count).toBe(rest.length);
  const seen: EvaluationResultDeletion[] = [];
  const deletion = await presage.results.waitUntilDeleted(id, {
    pollEveryMs: 5,
    onProgress: (progress) => seen.push(progress),
  });
  expect(deletion).toMatchObject({ id, status: "finished", count, deleted: count });
  expect(seen.at(-1)).toEqual(deletion);
  expect(await presage.results.getDeletion(id)).toEqual(deletion);
  expect(await presage.results.search({})).toHaveLength(1);
});

test("deleting by a filter is not repeated when its outcome is unknown", async () => {
  const scripted = startScriptedServer();
  const own = createPresage({ baseUrl: scripted.url, apiKey: "a-key", retries: 2 });
  scripted.script(json({ detail: "Too busy.", shouldRetry: false }, 503, { "x-should-retry": "false" }));
  expect((await caught(own.results.deleteMatching({ app: "a" }, 3))).category).toBe("unavailable");
  expect(scripted.received.map(({ target }) => target)).toEqual([
    "/v1/evaluation-results?app=a&expected_count=3",
  ]);
  await scripted.stop();
});

test("members are listed, the last owner stays one, and the audit log says what was done to a key", async () => {
  const [owner] = await presage.members.list();
  expect(owner?.role).toBe("owner");
  const refused = await caught(presage.members.update(owner?.id ?? "", { role: "viewer" }));
  expect([refused.category, refused.message]).toEqual(["conflict", expect.stringContaining("owner")]);

  const key = await presage.apiKeys.create({ name: "audited" });
  await presage.apiKeys.revoke(key.id);
  const actions: string[] = [];
  for await (const { action } of presage.auditEvents.iterate({ object_id: key.id })) actions.push(action);
  expect(actions).toEqual(["api_key.revoke", "api_key.create"]);
  const page = await presage.auditEvents.list({ limit: "1", object_id: key.id });
  expect([page.data.length, page.next]).toEqual([1, expect.any(String)]);
});
