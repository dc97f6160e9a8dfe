import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  EnvironmentListResponse,
  EnvironmentRevisionListResponse,
  EpisodeListResponse,
  TaskListResponse,
} from "@presage/contract";
import { insertEnvironment, insertEnvironmentRevision } from "../../src/environments/environments-store.ts";
import { peakMemory } from "../support/presage/peak-memory.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

const megabyte = 1_000_000;
const tasks = 12;
const initial_state = "x".repeat(10 * megabyte);

onAnyDatabase((database) => {
  let presage: SpawnedPresage;
  let url = "";
  beforeAll(async () => {
    url = await database.create();
    presage = await spawnPresage({
      PRESAGE_DATABASE_URL: url,
      PRESAGE_LOG_LEVEL: "warn",
      BUN_JSC_forceRAMSize: "301989888",
    });
    await presage.call("POST", "/v1/environments", { name: "long" });
    for (let index = 0; index < tasks; index += 1) {
      await presage.call("POST", "/v1/environments/long/tasks", { initial_state, prompt: `${index}` });
      expect((await presage.call("POST", "/v1/episodes", { environment: "long", index })).status).toBe(201);
    }
  }, 300_000);
  afterAll(() => presage[Symbol.asyncDispose]());

  test("what has no long text is listed without reading any", async () => {
    const before = await peakMemory(presage);
    const listed = await presage.call("GET", "/v1/episodes?limit=1000");
    expect(EpisodeListResponse.parse(await listed.json()).data).toHaveLength(tasks);
    const told = await presage.call("POST", "/long/tasks", { split: "train" });
    expect(((await told.json()) as { tasks: unknown[] }).tasks).toHaveLength(tasks);
    if (process.platform === "linux") expect(await peakMemory(presage)).toBeLessThan(before + 200 * megabyte);
  }, 300_000);

  test("a page of more than 64 MB of tasks is refused, and a smaller one is complete", async () => {
    const page = (query: string) => presage.call("GET", `/v1/environments/long/tasks?${query}`);
    const refused = await page("limit=1000");
    expect([refused.status, await refused.text()]).toEqual([413, expect.stringContaining("12 tasks")]);
    const { data, next } = TaskListResponse.parse(await (await page("limit=3&after=8")).json());
    expect([data.map(({ index, prompt }) => [index, prompt]), next]).toEqual([
      [8, 9, 10].map((index) => [index, String(index)]),
      "11",
    ]);
    expect(TaskListResponse.parse(await (await page("limit=3&after=9")).json()).next).toBeNull();
  }, 300_000);

  /** Copies of an environment of one megabyte, and as many revisions of it. */
  async function storeWide(): Promise<void> {
    await using store = await openStore(url);
    const { database: opened } = store;
    const of = opened.selectFrom("environments").selectAll().where("name", "=", "wide");
    const { id, ...wide } = await of.executeTakeFirstOrThrow();
    const config = JSON.stringify({ context: { environment_state: "x".repeat(megabyte) } });
    const revision = { config, created_at: Number(wide.created_at) };
    for (let number = 2; number <= 66; number += 1) {
      const copy = { ...wide, id: Bun.randomUUIDv7(), name: `wide-${number}` };
      await insertEnvironment(opened, { ...copy, last_revision: 1 });
      await insertEnvironmentRevision(opened, { ...revision, environment_id: copy.id, revision: 1 });
      await insertEnvironmentRevision(opened, { ...revision, environment_id: id, revision: number });
    }
    await opened.updateTable("environments").set({ last_revision: 66 }).where("id", "=", id).execute();
  }

  test("so is one of environments, or of revisions of one", async () => {
    const created = await presage.call("POST", "/v1/environments", { name: "wide" });
    expect(created.status).toBe(201);
    await storeWide();
    const page = (query: string) => presage.call("GET", `/v1/environments/wide/revisions?${query}`);
    const refused = await page("limit=1000");
    expect([refused.status, await refused.text()]).toEqual([413, expect.stringContaining("66 revisions")]);
    const { data } = EnvironmentRevisionListResponse.parse(await (await page("limit=2")).json());
    expect(data.map(({ revision }) => revision)).toEqual([66, 65]);
    const all = await presage.call("GET", "/v1/environments?limit=1000");
    expect([all.status, await all.text()]).toEqual([413, expect.stringContaining("67 environments")]);
    const some = await presage.call("GET", "/v1/environments?limit=50");
    expect(EnvironmentListResponse.parse(await some.json()).data).toHaveLength(50);
    const names = await presage.call("GET", "/list_environments");
    expect(await names.json()).toHaveLength(68);
  }, 300_000);
});
