import { beforeAll, describe, expect, test } from "bun:test";
import {
  type ErrorTaxonomyRevision,
  ErrorTaxonomyRevisionCreateResponse,
  ErrorTaxonomyRevisionListResponse,
} from "@presage/contract";
import { usePresage } from "../support/presage/use-presage.ts";
import { errorTaxonomyClient, nowhere, path, tree } from "../support/resources/error-taxonomies.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url });
  /** Headers of a caller from another account. */
  let stranger: Record<string, string>;
  const { post, create, find, list } = errorTaxonomyClient(() => presage);

  beforeAll(async () => {
    stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
  });

  describe("Creating a revision", () => {
    test("with a new name creates the taxonomy and its first revision", async () => {
      const metadata = { author: "me", ticket: 7 };
      const made = await create({
        error_taxonomy_name: "agents",
        error_taxonomy_description: "What agents get wrong",
        metadata,
        labels: ["production", "first"],
      });
      expect(made).toEqual({
        id: expect.any(String),
        error_taxonomy_id: expect.any(String),
        error_taxonomy_name: "agents",
        error_taxonomy_description: "What agents get wrong",
        revision: 1,
        body: tree,
        metadata,
        labels: ["production", "first"],
        account_id: expect.any(String),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      });
      expect(await find(made.id)).toEqual(made);
    });

    test("with a known name or id gets the next number and takes over the given labels", async () => {
      const first = await create({ error_taxonomy_name: "growing", labels: ["production", "old"] });
      const second = await create({ error_taxonomy_name: "growing", labels: ["production"] });
      const third = await create({ error_taxonomy_id: first.error_taxonomy_id.toUpperCase() });
      expect([second.revision, third.revision]).toEqual([2, 3]);
      expect(third.error_taxonomy_id).toBe(first.error_taxonomy_id);
      expect(third.metadata).toBeNull();
      expect((await find(first.id)).labels).toEqual(["old"]);
      expect((await find(second.id)).labels).toEqual(["production"]);
    });

    test("uses the id if both id and name are given", async () => {
      const first = await create({ error_taxonomy_name: "by id" });
      const second = await create({
        error_taxonomy_id: first.error_taxonomy_id,
        error_taxonomy_name: "another name",
      });
      expect(second.error_taxonomy_name).toBe("by id");
      expect(second.revision).toBe(2);
    });

    test("replaces the description only if one is given", async () => {
      const first = await create({ error_taxonomy_name: "described", error_taxonomy_description: "old" });
      const second = await create({ error_taxonomy_name: "described", error_taxonomy_description: null });
      expect(second.error_taxonomy_description).toBe("old");
      await create({ error_taxonomy_name: "described", error_taxonomy_description: "new" });
      expect((await find(first.id)).error_taxonomy_description).toBe("new");
    });

    test("stores the tree unchanged, including long integers", async () => {
      const body = '{"b":[1.5,{"__proto__":"é\\u0000"}],"a":12345678901234567890}';
      const response = await post("", `{"error_taxonomy_name":"exact","body":${body}}`);
      expect(response.status).toBe(201);
      expect(await response.text()).toContain(`"body":${body}`);
    });

    test("with create_only_if_not_exists rejects a taken name", async () => {
      const only = { error_taxonomy_name: "only once", create_only_if_not_exists: true };
      const { error_taxonomy_id } = await create(only);
      const again = await post("", { body: tree, ...only });
      expect(again.status).toBe(409);
      const issues = await issuesOf(await post("", { body: tree, ...only, error_taxonomy_id }));
      expect(locationsOf(issues)).toEqual([
        { type: "value_error", loc: ["body", "create_only_if_not_exists"] },
      ]);
      expect(await list({ error_taxonomy_id })).toHaveLength(1);
    });

    test("for an unknown taxonomy is 404", async () => {
      const response = await post("", { body: tree, error_taxonomy_id: nowhere });
      expect(response.status).toBe(404);
    });

    test("reports every issue of the request", async () => {
      const issues = await issuesOf(
        await post("", {
          error_taxonomy_id: "x",
          error_taxonomy_name: "",
          create_only_if_not_exists: "yes",
          metadata: [],
          labels: ["", "é".repeat(121), 1, "a\0b"],
        }),
      );
      expect(locationsOf(issues)).toEqual([
        { type: "uuid_parsing", loc: ["body", "error_taxonomy_id"] },
        { type: "string_too_short", loc: ["body", "error_taxonomy_name"] },
        { type: "bool_type", loc: ["body", "create_only_if_not_exists"] },
        { type: "missing", loc: ["body", "body"] },
        { type: "dict_type", loc: ["body", "metadata"] },
        { type: "string_too_short", loc: ["body", "labels", 0] },
        { type: "string_too_long", loc: ["body", "labels", 1] },
        { type: "string_type", loc: ["body", "labels", 2] },
        { type: "value_error", loc: ["body", "labels", 3] },
      ]);
    });

    test("requires a taxonomy, and a tree that is an object or a list", async () => {
      const nameless = await issuesOf(await post("", { body: [] }));
      expect(locationsOf(nameless)).toEqual([{ type: "missing", loc: ["body", "error_taxonomy_name"] }]);
      const treeless = await issuesOf(await post("", { error_taxonomy_name: "t", body: "tree" }));
      expect(locationsOf(treeless)).toEqual([{ type: "dict_type", loc: ["body", "body"] }]);
    });

    test("rejects a tree that would slow evaluations down, and accepts the largest allowed one", async () => {
      const nested = (levels: number): unknown[] => (levels === 1 ? [] : [nested(levels - 1)]);
      const long = (characters: number) => ({ a: "x".repeat(characters - '{"a":""}'.length) });
      for (const body of [long(1_000_001), nested(21), nested(200)]) {
        const issues = await issuesOf(await post("", { error_taxonomy_name: "large", body }));
        expect(locationsOf(issues)).toEqual([{ type: "value_error", loc: ["body", "body"] }]);
      }
      for (const body of [long(1_000_000), nested(20)]) {
        expect((await create({ error_taxonomy_name: "large", body })).body).toEqual(body);
      }
    });

    test("numbers concurrent revisions without gaps or duplicates", async () => {
      const made = await Promise.all(
        Array.from({ length: 20 }, () => create({ error_taxonomy_name: "crowded", labels: ["newest"] })),
      );
      expect(new Set(made.map((revision) => revision.error_taxonomy_id)).size).toBe(1);
      const revisions = await list({ name: "crowded" });
      expect(revisions.map(({ revision }) => revision)).toEqual(
        Array.from({ length: 20 }, (_, index) => 20 - index),
      );
      expect(revisions.filter(({ labels }) => labels.length > 0)).toHaveLength(1);
    });

    test("with create_only_if_not_exists exactly one of many concurrent requests succeeds", async () => {
      const only = { body: tree, error_taxonomy_name: "contested", create_only_if_not_exists: true };
      const responses = await Promise.all(Array.from({ length: 10 }, () => post("", only)));
      expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
    });
  });

  describe("Listing revisions", () => {
    let early: ErrorTaxonomyRevision;
    let late: ErrorTaxonomyRevision;
    let other: ErrorTaxonomyRevision;
    beforeAll(async () => {
      early = await create({ error_taxonomy_name: "listed", labels: ["listed"] });
      other = await create({ error_taxonomy_name: "listed too", labels: ["listed"] });
      late = await create({ error_taxonomy_name: "listed" });
    });

    const idsOf = async (query: Record<string, string>) => (await list(query)).map(({ id }) => id);

    test("shows the newest first, with their current labels", async () => {
      expect((await list({})).slice(0, 3)).toEqual([late, other, early]);
    });

    test("filters by taxonomy, name and label; all must match", async () => {
      const { error_taxonomy_id } = early;
      expect(await idsOf({ error_taxonomy_id })).toEqual([late.id, early.id]);
      expect(await idsOf({ name: "listed too" })).toEqual([other.id]);
      expect(await idsOf({ label: "listed" })).toEqual([other.id, early.id]);
      expect(await idsOf({ name: "listed", label: "listed" })).toEqual([early.id]);
      expect(await idsOf({ name: "list" })).toEqual([]);
    });

    test("can show only the latest revision of each taxonomy", async () => {
      expect((await idsOf({ latest_revision_only: "True" })).slice(0, 2)).toEqual([late.id, other.id]);
      expect(await idsOf({ name: "listed", latest_revision_only: "1" })).toEqual([late.id]);
      expect(await idsOf({ name: "listed", latest_revision_only: "false" })).toEqual([late.id, early.id]);
      expect(await idsOf({ name: "listed", label: "listed", latest_revision_only: "yes" })).toEqual([]);
    });

    test("pages by limit and offset", async () => {
      expect(await idsOf({ name: "listed", limit: "1" })).toEqual([late.id]);
      expect(await idsOf({ name: "listed", limit: "1", offset: "1" })).toEqual([early.id]);
      expect(await idsOf({ limit: "1000", offset: String(Number.MAX_SAFE_INTEGER) })).toEqual([]);
    });

    test("reports every issue of the query", async () => {
      const query = "error_taxonomy_id=x&name=%00&latest_revision_only=maybe&limit=1.5&offset=";
      const issues = await issuesOf(await presage.call("GET", `${path}?${query}`));
      expect(locationsOf(issues)).toEqual([
        { type: "uuid_parsing", loc: ["query", "error_taxonomy_id"] },
        { type: "value_error", loc: ["query", "name"] },
        { type: "bool_parsing", loc: ["query", "latest_revision_only"] },
        { type: "int_parsing", loc: ["query", "limit"] },
        { type: "int_parsing", loc: ["query", "offset"] },
      ]);
      const bounds = await issuesOf(await presage.call("GET", `${path}?limit=1001&offset=-1`));
      expect(bounds).toEqual([
        {
          type: "less_than_equal",
          loc: ["query", "limit"],
          msg: "Input should be less than or equal to 1000",
          input: "1001",
          ctx: { le: 1000 },
        },
        {
          type: "greater_than_equal",
          loc: ["query", "offset"],
          msg: "Input should be greater than or equal to 0",
          input: "-1",
          ctx: { ge: 0 },
        },
      ]);
    });
  });

  describe("A caller of another account", () => {
    test("cannot find, list, extend or label it", async () => {
      const revision = await create({ error_taxonomy_name: "private", labels: ["production"] });
      const { id, error_taxonomy_id } = revision;
      const answers = await Promise.all([
        presage.call("GET", `${path}/${id}`, undefined, stranger),
        post(`/${id}/set-labels`, { labels: ["theirs"] }, stranger),
        post(`/${id}/remove-labels`, { labels: ["production"] }, stranger),
        post("", { body: tree, error_taxonomy_id }, stranger),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
      const theirs = await presage.call("GET", `${path}?label=production`, undefined, stranger);
      const { data } = ErrorTaxonomyRevisionListResponse.parse(await theirs.json());
      // Built-in taxonomies are visible to everyone.
      expect(data.filter(({ error_taxonomy_name }) => !error_taxonomy_name.startsWith("system:"))).toEqual(
        [],
      );
      expect(await list({ error_taxonomy_id })).toEqual([revision]);
    });

    test("can use the same name for their own taxonomy", async () => {
      const { error_taxonomy_id } = await create({ error_taxonomy_name: "shared name" });
      const named = { body: tree, error_taxonomy_name: "shared name", create_only_if_not_exists: true };
      const response = await post("", named, stranger);
      expect(response.status).toBe(201);
      const theirs = ErrorTaxonomyRevisionCreateResponse.parse(await response.json()).error_taxonomy_revision;
      expect(theirs.revision).toBe(1);
      expect(theirs.error_taxonomy_id).not.toBe(error_taxonomy_id);
    });
  });
});
