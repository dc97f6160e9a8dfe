import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ErrorTaxonomyRevision } from "@presage/contract";
import { startPresage, type TestPresage } from "../support/presage/presage.ts";
import { errorTaxonomyClient, nowhere, path } from "../support/resources/error-taxonomies.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { startUpstream } from "../support/upstream/upstream.ts";

onAnyDatabase((database) => {
  const upstream = startUpstream();
  let databaseUrl: string;
  let presage: TestPresage;
  const { post, create, changeLabels, find, list } = errorTaxonomyClient(() => presage);
  const start = () => startPresage({ PRESAGE_DATABASE_URL: databaseUrl, PRESAGE_UPSTREAM_URL: upstream.url });

  beforeAll(async () => {
    databaseUrl = await database.create();
    presage = await start();
  });
  afterAll(async () => {
    await presage.stop();
    await upstream.stop();
  });

  describe("Setting labels", () => {
    test("adds them to the existing ones, each once", async () => {
      const revision = await create({ error_taxonomy_name: "set", labels: ["b"] });
      const labelled = await changeLabels("set-labels", revision, ["c", "b", "a", "a"]);
      expect(labelled).toEqual({ ...revision, labels: ["b", "c", "a"] });
      expect(await find(revision.id)).toEqual(labelled);
    });

    test("moves them from other revisions of the same taxonomy only", async () => {
      const other = await create({ error_taxonomy_name: "moved, not", labels: ["production"] });
      const first = await create({ error_taxonomy_name: "moved", labels: ["production", "stays"] });
      const second = await create({ error_taxonomy_name: "moved", labels: ["mine"] });
      expect((await changeLabels("set-labels", second, ["production"])).labels).toEqual([
        "mine",
        "production",
      ]);
      expect((await find(first.id)).labels).toEqual(["stays"]);
      expect((await find(other.id)).labels).toEqual(["production"]);
    });

    test("with an empty list changes nothing", async () => {
      const revision = await create({ error_taxonomy_name: "set nothing", labels: ["a"] });
      expect(await changeLabels("set-labels", revision, [])).toEqual(revision);
    });

    test("never leaves a label on two revisions, however many requests set and remove it concurrently", async () => {
      const name = "fought over";
      const rivals = [
        await create({ error_taxonomy_name: name }),
        await create({ error_taxonomy_name: name }),
      ];
      await Promise.all(
        Array.from({ length: 5 }, (_, turn) => [
          ...rivals.map((rival, index) =>
            changeLabels("set-labels", rival, (turn + index) % 2 === 0 ? ["a", "b", "c"] : ["c", "b", "a"]),
          ),
          ...rivals.map((rival) => changeLabels("remove-labels", rival, ["b", "a"])),
        ]).flat(),
      );
      const labels = (await list({ name })).flatMap((revision) => revision.labels);
      expect(labels).toEqual([...new Set(labels)]);
      expect(labels).toContain("c");
    });

    test("accepts 100 at once, and no empty one", async () => {
      const revision = await create({ error_taxonomy_name: "set many" });
      const many = Array.from({ length: 101 }, (_, index) => `label ${index}`);
      const labelled = await changeLabels("set-labels", revision, many.slice(1));
      expect(labelled.labels).toEqual(many.slice(1));
      const issues = [
        ...(await issuesOf(await post(`/${revision.id}/set-labels`, { labels: many }))),
        ...(await issuesOf(await post(`/${revision.id}/set-labels`, { labels: [""] }))),
      ];
      expect(locationsOf(issues)).toEqual([
        { type: "too_long", loc: ["body", "labels"] },
        { type: "string_too_short", loc: ["body", "labels", 0] },
      ]);
    });
  });

  describe("Removing labels", () => {
    test("responds with the updated revision, and ignores labels that it does not have", async () => {
      const revision = await create({ error_taxonomy_name: "removed", labels: ["c", "b", "a"] });
      const labels = ["b", "unknown", "b", "", "\0", "x".repeat(10_000)];
      const rest = await changeLabels("remove-labels", revision, labels);
      expect(rest).toEqual({ ...revision, labels: ["c", "a"] });
      expect(await find(revision.id)).toEqual(rest);
    });

    test("with an empty list changes nothing", async () => {
      const revision = await create({ error_taxonomy_name: "removed nothing", labels: ["a"] });
      expect(await changeLabels("remove-labels", revision, [])).toEqual(revision);
    });

    test("does not touch labels of other revisions", async () => {
      const first = await create({ error_taxonomy_name: "removed elsewhere", labels: ["a"] });
      const second = await create({ error_taxonomy_name: "removed elsewhere" });
      await changeLabels("remove-labels", second, ["a"]);
      expect((await find(first.id)).labels).toEqual(["a"]);
    });

    test("is idempotent, and a removed label can be set again", async () => {
      const revision = await create({ error_taxonomy_name: "removed twice", labels: ["a", "b"] });
      await changeLabels("remove-labels", revision, ["a"]);
      expect((await changeLabels("remove-labels", revision, ["a"])).labels).toEqual(["b"]);
      expect((await changeLabels("set-labels", revision, ["a"])).labels).toEqual(["b", "a"]);
    });

    test("survives a restart", async () => {
      const revision = await create({ error_taxonomy_name: "restarted", labels: ["a", "b"] });
      await changeLabels("remove-labels", revision, ["a"]);
      await presage.stop();
      presage = await start();
      expect(await find(revision.id)).toEqual({ ...revision, labels: ["b"] });
    });
  });

  describe.each(["set-labels", "remove-labels"])("The request of %s", (verb) => {
    let revision: ErrorTaxonomyRevision;
    beforeAll(async () => {
      revision = await create({ error_taxonomy_name: `request of ${verb}`, labels: ["kept"] });
    });
    const ask = (body: unknown, id = revision.id) => post(`/${id}/${verb}`, body);

    test("without labels is rejected", async () => {
      expect(await issuesOf(await ask({}))).toEqual([
        { type: "missing", loc: ["body", "labels"], msg: "Field required", input: {} },
      ]);
    });

    test("with labels that are not a list of strings is rejected with every issue", async () => {
      expect(await issuesOf(await ask({ labels: "x" }))).toEqual([
        { type: "list_type", loc: ["body", "labels"], msg: "Input should be a valid list", input: "x" },
      ]);
      const msg = "Input should be a valid string";
      expect(await issuesOf(await ask({ labels: [1, "a", null] }))).toEqual([
        { type: "string_type", loc: ["body", "labels", 0], msg, input: 1 },
        { type: "string_type", loc: ["body", "labels", 2], msg, input: null },
      ]);
    });

    test("with an account or a revision that is not a UUID is rejected", async () => {
      const account = await issuesOf(await ask({ account_id: "x", labels: [] }));
      expect(locationsOf(account)).toEqual([{ type: "uuid_parsing", loc: ["body", "account_id"] }]);
      const id = await issuesOf(await ask({ labels: [] }, "x"));
      expect(locationsOf(id)).toEqual([{ type: "uuid_parsing", loc: ["path", "revision_id"] }]);
    });

    test("may contain the caller's account and no other", async () => {
      const own = await ask({ account_id: revision.account_id.toUpperCase(), labels: [] });
      expect(await own.json()).toEqual(revision);
      expect((await ask({ account_id: null, labels: [] })).status).toBe(200);
      expect((await ask({ account_id: nowhere, labels: ["kept"] })).status).toBe(404);
      expect((await find(revision.id)).labels).toEqual(["kept"]);
    });

    test("is 404 for an unknown revision", async () => {
      expect((await ask({ labels: ["kept"] }, nowhere)).status).toBe(404);
    });

    test("accepts the revision's id in upper case", async () => {
      expect((await ask({ labels: [] }, revision.id.toUpperCase())).status).toBe(200);
    });

    test("is 401 without a key and 405 with another method", async () => {
      expect((await post(`/${revision.id}/${verb}`, { labels: [] }, {})).status).toBe(401);
      const wrongMethod = await presage.call("GET", `${path}/${revision.id}/${verb}`);
      expect(wrongMethod.status).toBe(405);
      expect(wrongMethod.headers.get("allow")).toBe("POST");
    });
  });
});
