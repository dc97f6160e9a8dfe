import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ApiKeyCreateResponse } from "@presage/contract";
import { microsPerMs, nowMicros } from "../../src/platform/storage/columns.ts";
import { eventually } from "../support/eventually.ts";
import { testKey } from "../support/presage/presage.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { issuesOf } from "../support/resources/validation-issues.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

const dayMicros = 86_400_000 * microsPerMs;

/** A write that accepts an Idempotency-Key. */
interface Write {
  path: string;
  /** A body that is unique by `name`. */
  body(name: string): object;
  /** How many resources have that name. */
  count(name: string): Promise<number>;
  /** Changes, by other requests, what a fresh read would return. */
  disturb?(answer: string): Promise<void>;
}

onEachDatabase((database) => {
  let databaseUrl: string;
  let one: SpawnedPresage;
  let other: SpawnedPresage;
  let store: Awaited<ReturnType<typeof openStore>>;
  let profileId: string;
  let projectId: string;
  let resultId: string;
  const keys = apiKeyClient(() => one);
  const results = evaluationResultsClient(() => one);

  beforeAll(async () => {
    databaseUrl = await database.create();
    const environment = { PRESAGE_DATABASE_URL: databaseUrl, PRESAGE_LOG_LEVEL: "error" };
    [one, other] = await Promise.all([spawnPresage(environment), spawnPresage(environment)]);
    store = await openStore(databaseUrl);
    const profile = { evaluator_family: "regex", name: "revised", config: { pattern: "first" } };
    const made = await (await one.call("POST", "/v1/evaluator-profiles", profile)).json();
    profileId = (made as { evaluator_profile: { public_id: string } }).evaluator_profile.public_id;
    const project = await (await one.call("POST", "/v1/projects", { name: "of the tests" })).json();
    projectId = (project as { id: string }).id;
    [resultId = ""] = await results.importAll([{ evaluator_id: "of the tests", pass: true }]);
  }, 300_000);
  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    for (const server of [one, other]) await server?.[Symbol.asyncDispose]();
  });

  const headers = (idempotencyKey: string, apiKey = testKey) => ({
    "x-api-key": apiKey,
    "idempotency-key": idempotencyKey,
  });
  const statusAndText = async (response: Response) => [response.status, await response.text()] as const;
  const rowsOf = (
    table: "evaluator_profiles" | "error_taxonomies" | "projects" | "runs" | "datasets",
    name: string,
  ) => store.database.selectFrom(table).select("name").where("name", "=", name).execute();

  const writes: Record<string, Write> = {
    "a key": {
      path: "/v1/api-keys",
      body: (name) => ({ name }),
      count: async (name) => (await keys.list()).filter((key) => key.name === name).length,
      async disturb(answer) {
        const { id, key } = ApiKeyCreateResponse.parse(JSON.parse(answer));
        expect(await keys.use(key)).toBe(200);
        expect(await keys.revoke(id)).toBe(204);
      },
    },
    "an import": {
      path: "/v1/evaluation-results/batch",
      body: (name) => ({
        evaluation_results: [
          { evaluator_id: "of the tests", app: name, pass: true, evaluated_model_output: "🙂" },
          { evaluator_id: "another", app: name, score_raw: 0.25 },
        ],
      }),
      count: async (name) => (await results.search({ app: name })).length / 2,
      async disturb(answer) {
        const [first] = JSON.parse(answer).evaluation_results;
        await results.correct(first.id, { pass: false });
      },
    },
    "a correction": {
      get path() {
        return `/v1/evaluation-results/${resultId}/correction`;
      },
      body: (name) => ({ pass: false, comment: name }),
      async count(name) {
        const rows = await store.database
          .selectFrom("evaluation_corrections")
          .select("id")
          .where("comment", "=", name)
          .execute();
        return rows.length;
      },
      async disturb() {
        await results.correct(resultId, { pass: true, comment: "On second thoughts." });
      },
    },
    "a profile": {
      path: "/v1/evaluator-profiles",
      body: (name) => ({ evaluator_family: "regex", name, config: { pattern: "a" }, description: "d" }),
      count: async (name) => (await rowsOf("evaluator_profiles", name)).length,
      async disturb(answer) {
        const path = `/v1/evaluator-profiles/${JSON.parse(answer).evaluator_profile.public_id}`;
        expect((await one.call("POST", `${path}/revision`, { config: { pattern: "b" } })).status).toBe(201);
        expect((await one.call("PATCH", `${path}/archive`)).status).toBe(200);
      },
    },
    "a revision of a profile": {
      get path() {
        return `/v1/evaluator-profiles/${profileId}/revision`;
      },
      body: (name) => ({ config: { pattern: name }, description: name }),
      async count(name) {
        const rows = await store.database
          .selectFrom("evaluator_profile_revisions")
          .select("revision")
          .where("description", "=", name)
          .execute();
        return rows.length;
      },
    },
    "a project": {
      path: "/v1/projects",
      body: (name) => ({ name }),
      count: async (name) => (await rowsOf("projects", name)).length,
    },
    "a dataset": {
      path: "/v1/datasets",
      body: (name) => ({ name, tags: { split: "test" } }),
      count: async (name) => (await rowsOf("datasets", name)).length,
      async disturb(answer) {
        const { id } = JSON.parse(answer) as { id: string };
        const sample = {
          trajectory_id: "t",
          step: 0,
          interaction: { state: "s", action: "a" },
          next_state: "n",
        };
        await one.call("POST", `/v1/datasets/${id}/revisions`, sample);
      },
    },
    "an experiment": {
      path: "/v1/experiments",
      body: (name) => ({ project_id: projectId, name, tags: { split: "test" }, metadata: { seed: 7 } }),
      count: async (name) => (await rowsOf("runs", name)).length,
      async disturb(answer) {
        const path = `/v1/experiments/${JSON.parse(answer).experiment.id}`;
        expect((await one.call("POST", path, { metadata: { seed: 8 } })).status).toBe(200);
      },
    },
    "a revision of an error taxonomy": {
      path: "/v1/error-taxonomy-revision",
      body: (name) => ({
        error_taxonomy_name: name,
        error_taxonomy_description: "at first",
        create_only_if_not_exists: true,
        body: [{ name: "Wrong" }],
        labels: ["production"],
      }),
      count: async (name) => (await rowsOf("error_taxonomies", name)).length,
      async disturb(answer) {
        const { error_taxonomy_id } = JSON.parse(answer).error_taxonomy_revision;
        const next = {
          error_taxonomy_id,
          error_taxonomy_description: "later",
          body: [],
          labels: ["production"],
        };
        expect((await one.call("POST", "/v1/error-taxonomy-revision", next)).status).toBe(201);
      },
    },
  };

  describe.each(Object.entries(writes))("A request for %s", (what, write) => {
    const name = (about: string) => `${about} ${what}`;
    const key = (about: string) => name(about).replaceAll(" ", "-");
    const send = (server: SpawnedPresage, about: string, apiKey?: string) =>
      server.call("POST", write.path, write.body(name(about)), headers(key(about), apiKey));

    test("that is repeated gets exactly the first response, from another process and whatever happened since", async () => {
      const first = await statusAndText(await send(one, "again"));
      expect(first[0]).toBe(201);
      expect(await statusAndText(await send(other, "again"))).toEqual(first);
      await write.disturb?.(first[1]);
      expect(await statusAndText(await send(one, "again"))).toEqual(first);
      expect(await write.count(name("again"))).toBe(1);
    });

    test("that is sent many times concurrently, to two processes, is executed once with equal responses", async () => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, async (_, index) =>
          statusAndText(await send(index % 2 ? one : other, "raced")),
        ),
      );
      expect(answers[0]?.[0]).toBe(201);
      expect(answers).toEqual(Array(10).fill(answers[0]));
      expect(await write.count(name("raced"))).toBe(1);
    });

    test("with a key that was used for another request is rejected and not executed", async () => {
      expect((await send(one, "first")).status).toBe(201);
      const refused = await other.call("POST", write.path, write.body(name("second")), headers(key("first")));
      const [issue] = await issuesOf(refused);
      expect(issue).toMatchObject({ type: "value_error", loc: ["header", "idempotency-key"], input: null });
      expect(issue?.msg).toContain("was used for another request");
      expect(await write.count(name("second"))).toBe(0);
    });

    test("is executed again a day later, when its key has expired", async () => {
      // The second request finds its name taken; a project's name is no conflict.
      const isNamed = /(taxonomy-revision|profiles|projects|datasets)$/.test(write.path);
      const repeated = write.path.endsWith("projects") ? 200 : 409;
      expect((await send(one, "old")).status).toBe(201);
      await store.database
        .updateTable("idempotent_requests")
        .set((row) => ({ created_at: row("created_at", "-", dayMicros) }))
        .execute();
      expect((await send(other, "old")).status).toBe(isNamed ? repeated : 201);
      expect(await write.count(name("old"))).toBe(isNamed ? 1 : 2);
    });

    test("with a key that is not plain text is rejected", async () => {
      const refused = await one.call("POST", write.path, write.body(name("odd")), headers("two words"));
      expect((await issuesOf(refused))[0]?.loc).toEqual(["header", "idempotency-key"]);
      expect(await write.count(name("odd"))).toBe(0);
    });
  });

  test("One key is separate for each operation and each user", async () => {
    const stranger = await keyOfAnotherAccount(databaseUrl);
    const create = (apiKey?: string) =>
      one.call("POST", "/v1/api-keys", { name: "shared word" }, headers("shared", apiKey));
    const mine = ApiKeyCreateResponse.parse(await (await create()).json());
    const theirs = ApiKeyCreateResponse.parse(await (await create(stranger)).json());
    expect(theirs.id).not.toBe(mine.id);
    const profile = { evaluator_family: "regex", name: "shared word", config: { pattern: "a" } };
    expect((await one.call("POST", "/v1/evaluator-profiles", profile, headers("shared"))).status).toBe(201);
  });

  test("Failures are not remembered", async () => {
    const profile = { evaluator_family: "regex", name: "archived for a while", config: { pattern: "a" } };
    const made = await (await one.call("POST", "/v1/evaluator-profiles", profile)).json();
    const { public_id } = (made as { evaluator_profile: { public_id: string } }).evaluator_profile;
    const path = `/v1/evaluator-profiles/${public_id}`;
    const revise = () =>
      other.call("POST", `${path}/revision`, { config: { pattern: "b" } }, headers("patient"));
    expect((await one.call("PATCH", `${path}/archive`)).status).toBe(200);
    expect((await revise()).status).toBe(409);
    await store.database.updateTable("evaluator_profiles").set({ archived_at: null }).execute();
    expect((await revise()).status).toBe(201);
    expect((await revise()).status).toBe(201);
  });

  test("A new API key is shown again only to the key that created it, and not once that is revoked", async () => {
    const [maker, sibling] = [await keys.create("maker"), await keys.create("sibling")];
    const create = (server: SpawnedPresage, apiKey: string) =>
      server.call("POST", "/v1/api-keys", { name: "offspring" }, headers("offspring", apiKey));
    const first = await statusAndText(await create(one, maker.key));
    expect(first[0]).toBe(201);
    const asked = await create(other, sibling.key);
    expect(asked.status).toBe(409);
    expect(await asked.text()).toContain("only that one can retrieve it");
    expect(await statusAndText(await create(other, maker.key))).toEqual(first);
    expect(await keys.revoke(maker.id)).toBe(204);
    expect((await create(other, maker.key)).status).toBe(401);
  });

  test("Remembered requests contain no API key, no idempotency key and no text", async () => {
    const name = "a name that is nowhere else";
    const made = await statusAndText(
      await one.call("POST", "/v1/api-keys", { name }, headers("a-word-of-mine")),
    );
    const { key } = ApiKeyCreateResponse.parse(JSON.parse(made[1]));
    const bulk = [{ evaluator_id: "bulk", app: "bulk", evaluated_model_output: "text ".repeat(10_000) }];
    const body = { evaluation_results: bulk };
    await one.call("POST", "/v1/evaluation-results/batch", body, headers("another-word"));
    const rows = await store.database.selectFrom("idempotent_requests").selectAll().execute();
    const settings = await store.database.selectFrom("settings").selectAll().execute();
    const everything = JSON.stringify([rows, settings]);
    for (const secret of [name, "a-word-of-mine", "another-word", "text", testKey])
      expect(everything).not.toContain(secret);
    for (const part of [key.slice(4, 12), key.slice(12, 20), key.slice(20, 28)])
      expect(everything).not.toContain(part);
    for (const { receipt } of rows) expect(receipt.length).toBeLessThan(1_500);
  });

  test("Expired requests are deleted by later ones of any kind", async () => {
    const forgotten = async () => {
      const query = store.database.selectFrom("idempotent_requests").select("id");
      return (await query.where("id", "like", "forgotten%").execute()).length;
    };
    for (const [kind, { path, body }] of Object.entries(writes)) {
      const rows = Array.from({ length: 30 }, (_, index) => ({
        id: `forgotten ${index}`,
        request_digest: "",
        receipt: "",
        created_at: nowMicros() - dayMicros - index,
      }));
      await store.database.insertInto("idempotent_requests").values(rows).execute();
      for (let index = 0; index < 3; index++) {
        const name = `clears ${index}`;
        const { status } = await one.call(
          "POST",
          path,
          body(name),
          headers(`${kind} ${name}`.replaceAll(" ", "-")),
        );
        expect([kind, status < 300]).toEqual([kind, true]);
      }
      expect([kind, await eventually(forgotten, (left) => left === 0)]).toEqual([kind, 0]);
    }
  });
});
