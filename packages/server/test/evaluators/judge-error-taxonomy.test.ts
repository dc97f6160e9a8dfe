import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { createErrorTaxonomyFamily } from "../../src/evaluators/judge/error-taxonomy.ts";
import { agentErrors, worldModelErrors } from "../../src/evaluators/taxonomies/built-in.ts";
import { flattenTaxonomy } from "../../src/evaluators/taxonomies/taxonomies.ts";
import type { TaxonomyRevision } from "../../src/evaluators/taxonomies/taxonomies-store.ts";
import {
  callTool,
  createTestAskForVerdict,
  promptOf,
  refuse,
  responseFormatOf,
  say,
} from "../support/upstream/judge.ts";
import { startUpstream } from "../support/upstream/upstream.ts";

const upstream = startUpstream();
beforeEach(() => {
  upstream.received.length = 0;
});
afterAll(() => upstream.stop());

const revision: TaxonomyRevision = {
  id: "revision-id",
  error_taxonomy_id: "taxonomy-id",
  error_taxonomy_name: "doors",
  error_taxonomy_description: null,
  revision: 3,
  body: JSON.stringify({
    categories: [
      { name: "state", errors: [{ name: "lost door", description: "A door is gone." }, "new door"] },
    ],
  }),
  metadata: null,
  labels: ["production"],
  account_id: "account",
  created_at: 0,
};
const profile = { error_taxonomy_name: "doors", label: "production" };

async function examine(found: TaxonomyRevision | null = revision) {
  const asked: unknown[] = [];
  const family = createErrorTaxonomyFamily({
    askForVerdict: createTestAskForVerdict(upstream),
    findLabelledRevision: async (...given) => {
      asked.push(given);
      return found ?? undefined;
    },
  });
  const verdict = await family.evaluate(
    { input: "A door.", output: "No door. E2" },
    {
      config: profile,
      accountId: "account",
      profilePublicId: "profile",
      signal: new AbortController().signal,
      mayRetry: () => false,
    },
  );
  expect(asked).toEqual([["account", "doors", "production"]]);
  return verdict;
}

test("An output gets each error kind that applies once, in any order", async () => {
  upstream.answer = () =>
    say({
      reasoning: "The door is gone and another came.",
      categories: [
        { id: "E2", reason: "A window." },
        { id: "E1", reason: "No door." },
        { id: "E2", reason: "Again." },
      ],
    });
  const verdict = await examine();
  expect(verdict).toMatchObject({ pass: false, score: 0 });
  expect(verdict.extra).toEqual({
    model: "test-model",
    rung: "json_schema",
    attempts: 1,
    usage: { prompt_tokens: 11, completion_tokens: 7 },
    categories: [
      { path: ["state", "lost door"], reason: "No door." },
      { path: ["state", "new door"], reason: "A window." },
    ],
    error_taxonomy_revision_id: "revision-id",
    revision: 3,
  });
  expect(verdict.explain()).toBe(
    "The door is gone and another came.\n- state / lost door: No door.\n- state / new door: A window.",
  );
});

test("The kinds are listed outside the fences, and are the schema's options", async () => {
  upstream.answer = () => say({ reasoning: "Right.", categories: [] });
  expect(await examine()).toMatchObject({ pass: true, score: 1, extra: { categories: [] } });
  const [received] = upstream.received;
  expect(received?.body.messages[0]?.content).toContain(
    "E1: state / lost door - A door is gone.\nE2: state / new door",
  );
  expect(promptOf(received)).toMatch(/<<<DATA \S+ output>>>\nNo door. E2\n<<<END /);
  expect(JSON.stringify(received?.body.response_format)).toContain('"enum":["E1","E2"]');
});

test("It falls back to other response formats like any judge", async () => {
  const none = { reasoning: "Right.", categories: [] };
  upstream.answer = (received) =>
    responseFormatOf(received) === "tool_call"
      ? callTool("give_categories", none)
      : refuse(400, "unsupported");
  expect(await examine()).toMatchObject({ pass: true, extra: { rung: "tool_call", attempts: 2 } });
});

test("An unknown kind is not an option", async () => {
  upstream.answer = () => say({ reasoning: "Hm.", categories: [{ id: "E3", reason: "?" }] });
  await expect(examine()).rejects.toMatchObject({ code: "judge_invalid_verdict" });
  expect(upstream.received).toHaveLength(2);
});

describe("An evaluation has no taxonomy", () => {
  const withBody = (body: unknown) => ({ ...revision, body: JSON.stringify(body) });
  const many = Array.from({ length: 501 }, (_, index) => `error ${index}`);

  test("if it is missing, empty or too large", async () => {
    await expect(examine(null)).rejects.toMatchObject({ code: "no_such_taxonomy" });
    await expect(examine(withBody([]))).rejects.toMatchObject({ code: "no_such_taxonomy" });
    await expect(examine(withBody(many))).rejects.toMatchObject({ code: "no_such_taxonomy" });
    expect(upstream.received).toHaveLength(0);
    upstream.answer = () => say({ reasoning: "Right.", categories: [] });
    expect((await examine(withBody(many.slice(1)))).pass).toBe(true);
  });
});

test("A profile's label is production by default", () => {
  const family = createErrorTaxonomyFamily({
    askForVerdict: undefined,
    findLabelledRevision: async () => undefined,
  });
  expect(family.config.parse({ error_taxonomy_name: "doors" })).toEqual(profile);
  expect(family.config.safeParse({ error_taxonomy_name: "doors", unknown: 1 }).success).toBe(false);
  expect(family.config.safeParse({ error_taxonomy_name: "a\0" }).success).toBe(false);
  for (const { config } of family.builtInProfiles) expect(family.config.parse(config)).toEqual(config);
});

describe.each([agentErrors, worldModelErrors])("The built-in $name", ({ body }) => {
  test("has kinds that each have a unique name and a description", () => {
    const leaves = flattenTaxonomy(body, 1_000);
    expect(leaves.length).toBeGreaterThan(20);
    expect(new Set(leaves.map(({ path }) => path.join("/"))).size).toBe(leaves.length);
    for (const { path, description } of leaves) {
      expect(path).toHaveLength(2);
      expect(description).toEndWith(".");
    }
  });
});
