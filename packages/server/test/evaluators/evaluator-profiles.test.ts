import { beforeAll, describe, expect, test } from "bun:test";
import { checkConfig, createProfile } from "../../src/evaluators/profiles/profiles.ts";
import { exactMatch } from "../../src/evaluators/rules/exact-match.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluatorProfileClient, nowhere, path } from "../support/resources/evaluator-profiles.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { anyRequester } from "../support/store/requester.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url });
  /** Headers of a caller from another account. */
  let stranger: Record<string, string>;
  const { post, create, revise, archive, list } = evaluatorProfileClient(() => presage);

  beforeAll(async () => {
    stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
  });

  describe("Creating a profile", () => {
    test("creates its first revision, with the config as given and without the family's defaults", async () => {
      const config = { strip_tags: true };
      const made = await create({ name: "as it came", config, description: "what it is for" });
      expect(made).toEqual({
        public_id: expect.any(String),
        evaluator_family: "exact-match",
        evaluator_id: "exact-match",
        name: "as it came",
        revision: 1,
        config,
        description: "what it is for",
        is_managed: false,
        is_patronus_managed: false,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        archived_at: null,
      });
      expect(await list({ public_id: made.public_id.toUpperCase() })).toEqual([made]);
    });

    test("keeps the order of the config's fields", async () => {
      const config = '{"trim":false,"strip_tags":true,"ignore_case":false}';
      const body = `{"evaluator_family":"exact-match","name":"in order","config":${config}}`;
      const response = await post("", body);
      expect(response.status).toBe(201);
      expect(await response.text()).toContain(`"config":${config}`);
    });

    test("treats nulls as omitted", async () => {
      const made = await create({ name: "nulls", evaluator_id: null, description: null });
      expect(made.description).toBeNull();
    });

    test("accepts the family under its old name, also as one of its evaluators, and reports the name as deprecated", async () => {
      const ways = {
        "by family": { evaluator_family: null, evaluator_id: "exact-match" },
        "by evaluator": { evaluator_id: "exact-match-2026-11-21" },
      };
      for (const [name, family] of Object.entries(ways)) {
        const response = await post("", { ...family, name, config: {} });
        expect([name, response.status]).toEqual([name, 201]);
        expect(response.headers.get("deprecation")).toMatch(/^@\d+$/);
        expect(await response.json()).toMatchObject({
          evaluator_profile: { evaluator_family: "exact-match", evaluator_id: "exact-match" },
        });
      }
    });

    test("uses the new name if both are given, and reports no deprecation for the new name alone", async () => {
      const both = { evaluator_family: "exact-match", evaluator_id: "no-such-family" };
      const response = await post("", { ...both, name: "both names", config: {} });
      expect(response.status).toBe(201);
      expect(response.headers.has("deprecation")).toBe(true);
      const current = await post("", { evaluator_family: "exact-match", name: "today's name", config: {} });
      expect(current.headers.has("deprecation")).toBe(false);
    });

    test("rejects a name taken in the family, also by an archived profile, and accepts the next", async () => {
      const first = await create({ name: "taken" });
      const again = { evaluator_family: "exact-match", name: "taken", config: { trim: false } };
      expect((await post("", again)).status).toBe(409);
      await archive(first);
      expect((await post("", again)).status).toBe(409);
      expect(await list({ name: "taken", include_archived: "true" })).toHaveLength(1);
      await create({ name: "Taken" });
    });

    test("lets exactly one of many concurrent requests with the same name succeed", async () => {
      const body = { evaluator_family: "exact-match", name: "contested", config: {} };
      const responses = await Promise.all(Array.from({ length: 10 }, () => post("", body)));
      expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
    });

    test("reports a missing family together with other issues", async () => {
      for (const family of [{}, { evaluator_family: null, evaluator_id: null }]) {
        const body = { ...family, name: "no family", config: [] };
        const issues = await issuesOf(await post("", body));
        expect(issues).toHaveLength(2);
        expect(issues).toContainEqual(
          expect.objectContaining({ type: "missing", loc: ["body", "evaluator_family"], input: body }),
        );
        expect(issues).toContainEqual(
          expect.objectContaining({ type: "dict_type", loc: ["body", "config"] }),
        );
      }
    });

    test("reports every issue of the shape", async () => {
      const body = { evaluator_family: 1, name: "é".repeat(201), config: [], description: "\0" };
      expect(locationsOf(await issuesOf(await post("", body)))).toEqual([
        { type: "string_type", loc: ["body", "evaluator_family"] },
        { type: "string_too_long", loc: ["body", "name"] },
        { type: "dict_type", loc: ["body", "config"] },
        { type: "value_error", loc: ["body", "description"] },
      ]);
    });

    test("reports every issue of the config by the family's schema, in pydantic's words", async () => {
      const config = '{"trim":"yes","ignore_case":null,"typo":[]}';
      const body = `{"evaluator_family":"exact-match","name":"wrong","config":${config}}`;
      expect(await issuesOf(await post("", body))).toEqual([
        {
          type: "bool_type",
          loc: ["body", "config", "trim"],
          msg: "Input should be a valid boolean",
          input: "yes",
        },
        {
          type: "bool_type",
          loc: ["body", "config", "ignore_case"],
          msg: "Input should be a valid boolean",
          input: null,
        },
        {
          type: "extra_forbidden",
          loc: ["body", "config", "typo"],
          msg: "Extra inputs are not permitted",
          input: [],
        },
      ]);
      expect(await list({ name: "wrong" })).toEqual([]);
    });

    test("reports the issues of family, name and config together", async () => {
      const unknown = { evaluator_family: "no-such-family", name: "system:mine", config: {} };
      expect(locationsOf(await issuesOf(await post("", unknown)))).toEqual([
        { type: "value_error", loc: ["body", "evaluator_family"] },
        { type: "value_error", loc: ["body", "name"] },
      ]);
      const reserved = { evaluator_family: "exact-match", name: "system:mine", config: { trim: 1 } };
      expect(locationsOf(await issuesOf(await post("", reserved)))).toEqual([
        { type: "value_error", loc: ["body", "name"] },
        { type: "bool_type", loc: ["body", "config", "trim"] },
      ]);
    });

    test("reports an unknown family at the field that was used, and a missing one at the new field", async () => {
      const old = await post("", { evaluator_id: "no-such-family", name: "x", config: {} });
      expect(locationsOf(await issuesOf(old))).toEqual([
        { type: "value_error", loc: ["body", "evaluator_id"] },
      ]);
      const nulls = await post("", { evaluator_id: null, evaluator_family: null, name: "x", config: {} });
      expect(locationsOf(await issuesOf(nulls))).toEqual([
        { type: "missing", loc: ["body", "evaluator_family"] },
      ]);
    });
  });

  describe("Revising a profile", () => {
    test("adds a revision with the whole new config and leaves the earlier ones", async () => {
      const first = await create({ name: "revised", config: { trim: false }, description: "old" });
      const second = await revise(first, { config: { ignore_case: true } });
      expect(second).toEqual({
        ...first,
        revision: 2,
        config: { ignore_case: true },
        created_at: expect.any(String),
      });
      const third = await revise(first, { config: {}, description: "new" });
      expect([third.revision, third.description]).toEqual([3, "new"]);
      expect(await list({ public_id: first.public_id })).toEqual([third, second, first]);
    });

    test("keeps the latest description if it is null", async () => {
      const first = await create({ name: "described", description: "kept" });
      await revise(first, { config: {}, description: null });
      const third = await revise(first, { config: {}, evaluator_family: null, evaluator_id: null });
      expect(third.description).toBe("kept");
    });

    test("accepts the profile's own family, under the old or new name, and no other", async () => {
      const first = await create({ name: "of a family" });
      const second = await revise(first, { config: {}, evaluator_family: "exact-match" });
      const old = await post(`/${first.public_id}/revision`, { config: {}, evaluator_id: "exact-match" });
      expect([second.revision, old.status, old.headers.has("deprecation")]).toEqual([2, 201, true]);
      const other = { config: { trim: 0 }, evaluator_family: "contains" };
      expect(locationsOf(await issuesOf(await post(`/${first.public_id}/revision`, other)))).toEqual([
        { type: "value_error", loc: ["body", "evaluator_family"] },
        { type: "bool_type", loc: ["body", "config", "trim"] },
      ]);
      expect(await list({ public_id: first.public_id })).toHaveLength(3);
    });

    test("requires a config that is valid for the family", async () => {
      const first = await create({ name: "strict" });
      const issues = await issuesOf(await post(`/${first.public_id}/revision`, { description: "no config" }));
      expect(locationsOf(issues)).toEqual([{ type: "missing", loc: ["body", "config"] }]);
      const wrong = await post(`/${first.public_id}/revision`, { config: { trims: true } });
      expect(locationsOf(await issuesOf(wrong))).toEqual([
        { type: "extra_forbidden", loc: ["body", "config", "trims"] },
      ]);
    });

    test("counts without gaps or duplicates when many come at once", async () => {
      const first = await create({ name: "crowded" });
      await Promise.all(Array.from({ length: 15 }, () => revise(first, { config: {} })));
      const numbers = (await list({ name: "crowded" })).map(({ revision }) => revision);
      expect(numbers.sort((one, other) => one - other)).toEqual(
        Array.from({ length: 16 }, (_, index) => index + 1),
      );
      const last = await list({ name: "crowded", get_last_revision: "true" });
      expect(last.map(({ revision }) => revision)).toEqual([16]);
    });

    test("is 409 for an archived profile, 404 for an unknown one and 422 for an invalid id", async () => {
      const archived = await create({ name: "past revising" });
      await archive(archived);
      expect((await post(`/${archived.public_id}/revision`, { config: {} })).status).toBe(409);
      expect((await post(`/${nowhere}/revision`, { config: {} })).status).toBe(404);
      const issues = await issuesOf(await post("/no-id/revision", { config: {} }));
      expect(locationsOf(issues)).toEqual([{ type: "uuid_parsing", loc: ["path", "public_id"] }]);
    });
  });

  describe("Archiving a profile", () => {
    test("responds with every revision, and changes nothing if repeated", async () => {
      const first = await create({ name: "archived" });
      const second = await revise(first, { config: { trim: false } });
      const answered = await archive(first);
      const archivedAt = answered[0]?.archived_at ?? null;
      expect(archivedAt).toEqual(expect.any(String));
      expect(answered).toEqual([
        { ...second, archived_at: archivedAt },
        { ...first, archived_at: archivedAt },
      ]);
      expect(await archive(first)).toEqual(answered);
    });

    test("hides it from lists unless archived ones are included", async () => {
      const archived = await create({ name: "off the lists" });
      await archive(archived);
      expect(await list({ name: "off the lists" })).toEqual([]);
      expect(await list({ public_id: archived.public_id, include_archived: "false" })).toEqual([]);
      expect(await list({ name: "off the lists", include_archived: "True" })).toHaveLength(1);
    });

    test("accepts the profile's own family, and no other", async () => {
      const profile = await create({ name: "of its family" });
      const ask = (body: unknown) => presage.call("PATCH", `${path}/${profile.public_id}/archive`, body);
      for (const field of ["evaluator_family", "evaluator_id"]) {
        const issues = await issuesOf(await ask({ [field]: "contains" }));
        expect(locationsOf(issues)).toEqual([{ type: "value_error", loc: ["body", field] }]);
      }
      expect(locationsOf(await issuesOf(await ask({ evaluator_id: 1 })))).toEqual([
        { type: "string_type", loc: ["body", "evaluator_id"] },
      ]);
      expect(await list({ name: "of its family" })).toEqual([profile]);
      const old = await ask({ evaluator_id: "exact-match-2026-11-21" });
      expect([old.status, old.headers.has("deprecation")]).toEqual([200, true]);
      for (const body of [{ evaluator_family: "exact-match", evaluator_id: null }, {}, "null"]) {
        const answer = await ask(body);
        expect([answer.status, answer.headers.has("deprecation")]).toEqual([200, false]);
      }
    });

    test("is 404 for an unknown profile", async () => {
      expect((await presage.call("PATCH", `${path}/${nowhere}/archive`)).status).toBe(404);
    });
  });

  describe("Listing profiles", () => {
    const ofFamily = { evaluator_family: "exact-match", limit: "1000", offset: "0" };
    const mine = { ...ofFamily, is_managed: "false" };

    test("gives exactly one row for a family, a name and the latest revision", async () => {
      const first = await create({ name: "looked up" });
      const last = await revise(first, { config: { trim: false } });
      const query = { ...ofFamily, name: "looked up", get_last_revision: "true" };
      expect(await list(query)).toEqual([last]);
      expect(await list({ ...query, get_last_revision: "false" })).toEqual([last, first]);
      expect(await list({ ...query, revision: "1", get_last_revision: "false" })).toEqual([first]);
      expect(await list({ ...query, revision: "1" })).toEqual([]);
      expect(await list({ ...query, something_else: "1" })).toEqual([last]);
    });

    test("gives exactly one row for a built-in profile too", async () => {
      const rows = await list({ ...ofFamily, name: "system:default", get_last_revision: "true" });
      expect(rows).toEqual([
        {
          public_id: expect.any(String),
          evaluator_family: "exact-match",
          evaluator_id: "exact-match",
          name: "system:default",
          revision: 1,
          config: { trim: true, ignore_case: false, strip_tags: false },
          description: expect.any(String),
          is_managed: true,
          is_patronus_managed: true,
          created_at: "2026-11-21T00:00:00.000Z",
          archived_at: null,
        },
      ]);
      const publicId = rows[0]?.public_id ?? "";
      expect(await list({ public_id: publicId, get_last_revision: "false" })).toEqual(rows);
      expect(await list({ public_id: publicId, revision: "2" })).toEqual([]);
    });

    test("accepts the old names, and reports them as deprecated", async () => {
      const query = "evaluator_id=exact-match-2026-11-21&is_patronus_managed=true&get_last_revision=true";
      const response = await presage.call("GET", `${path}?${query}&limit=1000&offset=0`);
      expect(response.headers.get("deprecation")).toMatch(/^@\d+$/);
      expect(await response.json()).toEqual({
        evaluator_profiles: await list({ ...ofFamily, is_managed: "true" }),
      });
      const current = await presage.call("GET", `${path}?evaluator_family=exact-match`);
      expect(current.headers.has("deprecation")).toBe(false);
      const both = { is_managed: "true", is_patronus_managed: "false" };
      expect(await list({ ...ofFamily, ...both })).toEqual(await list({ ...ofFamily, is_managed: "true" }));
    });

    test("shows the account's, newest first, then the built-in ones", async () => {
      const newest = await create({ name: "newest" });
      const all = await list(ofFamily);
      const own = await list(mine);
      const managed = await list({ ...ofFamily, is_managed: "true" });
      expect(all[0]).toEqual(newest);
      expect(managed.every((profile) => profile.is_managed)).toBe(true);
      expect(own.some((profile) => profile.is_managed)).toBe(false);
      expect(managed.length).toBeGreaterThan(0);
      expect(all).toEqual([...own, ...managed]);
    });

    test("pages across the border between the two without gaps or repetitions", async () => {
      const all = await list({ limit: "1000" });
      const ownCount = all.filter(({ is_managed }) => !is_managed).length;
      expect(ownCount).toBeLessThan(all.length);
      for (const offset of [0, ownCount - 1, ownCount, ownCount + 1, all.length, Number.MAX_SAFE_INTEGER]) {
        const page = await list({ limit: "2", offset: String(offset) });
        expect(page).toEqual(all.slice(offset, offset + 2));
      }
      expect(await list({})).toEqual(all.slice(0, 50));
    });

    test("finds nothing for values that no profile has", async () => {
      expect(await list({ evaluator_family: "no-such-family" })).toEqual([]);
      expect(await list({ name: "" })).toEqual([]);
      expect(await list({ public_id: nowhere })).toEqual([]);
      expect(await list({ revision: String(Number.MAX_SAFE_INTEGER) })).toEqual([]);
    });

    test("reports every issue of the query", async () => {
      const query =
        "public_id=x&evaluator_family=%00&revision=0&get_last_revision=maybe&is_patronus_managed=&limit=1001&offset=-1";
      expect(locationsOf(await issuesOf(await presage.call("GET", `${path}?${query}`)))).toEqual([
        { type: "uuid_parsing", loc: ["query", "public_id"] },
        { type: "value_error", loc: ["query", "evaluator_family"] },
        { type: "greater_than_equal", loc: ["query", "revision"] },
        { type: "bool_parsing", loc: ["query", "get_last_revision"] },
        { type: "bool_parsing", loc: ["query", "is_patronus_managed"] },
        { type: "less_than_equal", loc: ["query", "limit"] },
        { type: "greater_than_equal", loc: ["query", "offset"] },
      ]);
    });
  });

  test("Built-in profiles can be neither revised nor archived", async () => {
    const [managed] = await list({ evaluator_family: "exact-match", name: "system:default" });
    const where = `${path}/${managed?.public_id.toUpperCase()}`;
    const answers = await Promise.all([
      presage.call("POST", `${where}/revision`, { config: {} }),
      presage.call("PATCH", `${where}/archive`),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(409);
      expect(await answer.json()).toEqual({ detail: expect.stringContaining("system:default") });
    }
    expect(await list({ evaluator_family: "exact-match", name: "system:default" })).toEqual(
      managed === undefined ? [] : [managed],
    );
  });

  test("A profile of a removed family can be listed and archived, but not revised", async () => {
    await using store = await openStore(presage.databaseUrl);
    const config = await checkConfig(
      { ...exactMatch, name: "gone" },
      {},
      () => undefined,
      () => Promise.resolve(undefined),
    );
    if ("issues" in config) throw new Error("the config is refused");
    const requester = anyRequester(store.owner.account_id);
    await createProfile({ store }, requester, { config, name: "orphan", description: undefined });
    const [orphan] = await list({ evaluator_family: "gone" });
    if (orphan === undefined) throw new Error("the profile is not listed");
    expect((await post(`/${orphan.public_id}/revision`, { config: {} })).status).toBe(409);
    expect(await archive(orphan)).toEqual([{ ...orphan, archived_at: expect.any(String) }]);
  });

  test("An evaluation uses the latest revision of a profile, until the profile is archived", async () => {
    const first = await create({ name: "used", config: { ignore_case: false } });
    await revise(first, { config: { ignore_case: true } });
    const evaluate = (headers?: Record<string, string>) => {
      const evaluators = [{ evaluator: "exact-match", profile_name: "used" }];
      const texts = { evaluated_model_output: "Open", evaluated_model_gold_answer: "open" };
      return presage.call("POST", "/v1/evaluate", { evaluators, ...texts }, headers);
    };
    expect(await (await evaluate()).json()).toMatchObject({
      results: [
        {
          evaluation_result: {
            pass: true,
            evaluator_profile_public_id: first.public_id,
            evaluator_profile_revision: 2,
          },
        },
      ],
    });
    const place = { type: "value_error", loc: ["body", "evaluators", 0, "profile_name"] };
    expect(locationsOf(await issuesOf(await evaluate(stranger)))).toEqual([place]);
    await archive(first);
    expect(locationsOf(await issuesOf(await evaluate()))).toEqual([place]);
  });

  describe("A caller of another account", () => {
    test("cannot find, revise or archive it", async () => {
      const profile = await create({ name: "private" });
      const where = `${path}/${profile.public_id}`;
      const answers = await Promise.all([
        presage.call("POST", `${where}/revision`, { config: {} }, stranger),
        presage.call("PATCH", `${where}/archive`, undefined, stranger),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([404, 404]);
      for (const query of [`public_id=${profile.public_id}`, "name=private", "is_managed=false"]) {
        const theirs = await presage.call("GET", `${path}?${query}&include_archived=1`, undefined, stranger);
        expect(await theirs.json()).toEqual({ evaluator_profiles: [] });
      }
      expect(await list({ public_id: profile.public_id })).toEqual([profile]);
    });

    test("can use the same name, and has the same built-in profiles", async () => {
      const profile = await create({ name: "shared name" });
      const body = { evaluator_family: "exact-match", name: "shared name", config: {} };
      const response = await post("", body, stranger);
      expect(response.status).toBe(201);
      expect(await response.json()).not.toMatchObject({
        evaluator_profile: { public_id: profile.public_id },
      });
      const theirs = await presage.call("GET", `${path}?is_managed=true&limit=1000`, undefined, stranger);
      expect(await theirs.json()).toEqual({
        evaluator_profiles: await list({ is_managed: "true", limit: "1000" }),
      });
    });
  });
});
