import { afterAll, beforeAll, expect, test } from "bun:test";
import { peakMemory } from "../support/presage/peak-memory.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

const megabyte = 1_000_000;
const taxonomies = "/v1/error-taxonomy-revision";
const profiles = "/v1/evaluator-profiles";

/** The number of long revisions: more than fit on a page. */
const long = 34;
const longBytes = 2 * megabyte;
const hugeBytes = 66 * megabyte;
const budget = 256 * 1024 * 1024;

onAnyDatabase((database) => {
  let presage: SpawnedPresage;

  beforeAll(async () => {
    const url = await database.create();
    await using store = await openStore(url);
    await storeLongTaxonomies(store, long, hugeBytes);
    await storeLongProfiles(store, long);
    presage = await spawnPresage({
      PRESAGE_DATABASE_URL: url,
      PRESAGE_LOG_LEVEL: "warn",
      PRESAGE_MEMORY_BUDGET_BYTES: String(budget),
      BUN_JSC_forceRAMSize: "301989888",
    });
  }, 300_000);
  afterAll(() => presage[Symbol.asyncDispose]());

  async function read(path: string): Promise<{ status: number; body: Record<string, unknown[]> }> {
    const response = await presage.call("GET", path);
    return { status: response.status, body: (await response.json()) as Record<string, unknown[]> };
  }

  test("A page of more than 64 MB is rejected, a smaller one is complete, and one large revision is a page of its own", async () => {
    for (const [path, list] of [
      [`${taxonomies}?name=long`, "data"],
      [`${profiles}?name=long`, "evaluator_profiles"],
    ] as const) {
      const refused = await read(`${path}&limit=1000`);
      expect(refused.status).toBe(413);
      expect(refused.body.detail).toMatch(/34 revisions .* 6\d MB .* 64 MB.* limit/);
      const { status, body } = await read(`${path}&limit=12&offset=2`);
      const revisions = body[list] as { revision: number }[];
      expect(status).toBe(200);
      expect(revisions.map(({ revision }) => revision)).toEqual(
        Array.from({ length: 12 }, (_, index) => long - 2 - index),
      );
      expect(JSON.stringify(revisions[7])).toHaveLength(JSON.stringify(revisions[8]).length);
      expect(JSON.stringify(revisions[7]).length).toBeGreaterThan(longBytes);
    }
    const huge = await read(`${taxonomies}?name=huge`);
    expect(JSON.stringify(huge.body.data).length).toBeGreaterThan(hugeBytes);
  }, 300_000);

  test("Many concurrent lists of long revisions do not block anyone else", async () => {
    let isOver = false;
    const lists = Array.from({ length: 3 }, async (_, index) => {
      const path = index % 2 === 0 ? `${taxonomies}?name=long` : `${profiles}?name=long`;
      const response = await presage.call("GET", `${path}&limit=30`);
      let length = 0;
      for await (const chunk of response.body ?? []) length += chunk.length;
      return [response.status, length > 60 * megabyte];
    });
    const listed = Promise.all(lists).finally(() => {
      isOver = true;
    });
    let slowestMs = 0;
    while (!isOver) {
      const startedAtMs = performance.now();
      expect((await fetch(`${presage.url}/health`)).status).toBe(200);
      slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
      await Bun.sleep(20);
    }
    expect(await listed).toEqual(lists.map(() => [200, true]));
    expect(slowestMs).toBeLessThan(5_000);
    if (process.platform === "linux") expect(await peakMemory(presage)).toBeLessThan(900 * megabyte);
  }, 300_000);

  test("A revision has at most 1,000 labels", async () => {
    await presage.call("POST", taxonomies, { error_taxonomy_name: "labels", body: [] });
    const { body } = await read(`${taxonomies}?name=labels`);
    const [revision] = body.data as { id: string }[];
    const set = async (hundred: number) => {
      const labels = Array.from({ length: 100 }, (_, index) => `label ${hundred} ${index}`);
      return (await presage.call("POST", `${taxonomies}/${revision?.id}/set-labels`, { labels })).status;
    };
    for (let hundred = 0; hundred < 10; hundred += 1) expect(await set(hundred)).toBe(200);
    expect(await set(10)).toBe(409);
    expect(await set(0)).toBe(200);
  });
});

const empty = usePresage();

test("What every list item contains is limited, and the error says so", async () => {
  const text = (characters: number) => "🚪".repeat(characters);
  const json = (characters: number) => ({ a: "x".repeat(characters - '{"a":""}'.length) });
  const tooLong = (...loc: (string | number)[]) => ({ type: "string_too_long", loc: ["body", ...loc] });
  const tooMuch = (...loc: (string | number)[]) => ({ type: "value_error", loc: ["body", ...loc] });
  const revision = { error_taxonomy_name: "bounds", body: [] };
  const profile = { evaluator_family: "exact-match", name: "bounds" };
  const output = { evaluators: [{ evaluator: "contains" }], evaluated_model_output: "x" };
  const imported = (fields: object) => ({ evaluation_results: [{ evaluator_id: "elsewhere", ...fields }] });
  const cases: [path: string, body: object, issues: ReturnType<typeof locationsOf>, largest: object][] = [
    [
      taxonomies,
      { ...revision, error_taxonomy_description: text(10_001), metadata: json(65_537) },
      [tooLong("error_taxonomy_description"), tooMuch("metadata")],
      { ...revision, error_taxonomy_description: text(10_000), metadata: json(65_536) },
    ],
    [
      profiles,
      { ...profile, config: json(1_000_001), description: text(10_001) },
      [tooMuch("config"), tooLong("description")],
      { ...profile, config: {}, description: text(10_000) },
    ],
    [
      "/v1/evaluate",
      { ...output, evaluated_model_params: json(65_537) },
      [tooMuch("evaluated_model_params")],
      { ...output, evaluated_model_params: json(65_536), evaluators: [{ evaluator: "pii" }] },
    ],
    [
      "/v1/evaluation-results/batch",
      imported({ explanation: "x".repeat(1_000_001) }),
      [tooLong("evaluation_results", 0, "explanation")],
      imported({ explanation: "x".repeat(900_000) }),
    ],
  ];
  for (const [path, body, issues, largest] of cases) {
    expect(locationsOf(await issuesOf(await empty.call("POST", path, body)))).toEqual(issues);
    const kept = await empty.call("POST", path, largest);
    expect(kept.status).toBeLessThan(300);
  }
  const comment = (characters: number) => ({ pass: false, comment: text(characters) });
  const path = "/v1/evaluation-results/1/correction";
  expect(locationsOf(await issuesOf(await empty.call("POST", path, comment(10_001))))).toEqual([
    tooLong("comment"),
  ]);
  expect((await empty.call("POST", path, comment(10_000))).status).toBe(201);
});

type Store = Awaited<ReturnType<typeof openStore>>;

/** Stores revisions as they were before there was a limit, and one that is larger than a page. */
async function storeLongTaxonomies({ database, owner }: Store, count: number, huge: number): Promise<void> {
  const account_id = owner.account_id;
  const revisionOf = async (name: string, revisions: number, bytes: number) => {
    const taxonomy_id = Bun.randomUUIDv7();
    await database
      .insertInto("error_taxonomies")
      .values({
        id: taxonomy_id,
        account_id,
        name,
        description: null,
        last_revision: revisions,
        created_at: 1,
      })
      .execute();
    for (let revision = 1; revision <= revisions; revision += 1) {
      const id = Bun.randomUUIDv7();
      const metadata = JSON.stringify({ text: "x".repeat(bytes) });
      await database
        .insertInto("error_taxonomy_revisions")
        .values({ id, taxonomy_id, account_id, revision, body: "[]", metadata, created_at: revision })
        .execute();
    }
  };
  await revisionOf("long", count, longBytes);
  await revisionOf("huge", 1, huge);
}

async function storeLongProfiles({ database, owner }: Store, count: number): Promise<void> {
  const public_id = Bun.randomUUIDv7();
  await database
    .insertInto("evaluator_profiles")
    .values({
      public_id,
      account_id: owner.account_id,
      evaluator_family: "json-schema",
      name: "long",
      last_revision: count,
      archived_at: null,
      created_at: 1,
    })
    .execute();
  for (let revision = 1; revision <= count; revision += 1) {
    const config = JSON.stringify({ schema: { description: "x".repeat(longBytes) } });
    await database
      .insertInto("evaluator_profile_revisions")
      .values({ public_id, revision, config, description: null, created_at: revision })
      .execute();
  }
}
