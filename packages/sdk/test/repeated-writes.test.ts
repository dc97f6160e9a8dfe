import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { expectEventually } from "../../server/test/support/eventually.ts";
import { freePort } from "../../server/test/support/free-port.ts";
import { testKey } from "../../server/test/support/presage/presage.ts";
import { type SpawnedPresage, spawnPresage } from "../../server/test/support/presage/spawn-presage.ts";
import { onSqlite } from "../../server/test/support/store/databases.ts";
import { openStore } from "../../server/test/support/store/open-store.ts";
import { createPresage, type Presage } from "../src/create-presage.ts";
import { caught } from "./support/caught.ts";
import { type FaultyProxy, type Loss, startFaultyProxy } from "./support/faulty-proxy.ts";
import { json, startScriptedServer } from "./support/scripted-server.ts";

interface Write {
  call(presage: Presage, name: string): Promise<unknown>;
  /** Counts the objects with this name. */
  count(presage: Presage, name: string): Promise<number>;
}

onSqlite((database) => {
  let environment: Record<string, string>;
  let server: SpawnedPresage;
  let direct: Presage;
  let store: Awaited<ReturnType<typeof openStore>>;
  let resultId: string;
  let profileId: string;

  beforeAll(async () => {
    environment = { PRESAGE_DATABASE_URL: await database.create(), PRESAGE_LOG_LEVEL: "error" };
    server = await spawnPresage(environment);
    store = await openStore(environment.PRESAGE_DATABASE_URL ?? "");
    direct = createPresage({ baseUrl: server.url, apiKey: testKey });
    const [imported] = await direct.results.importBatch([{ evaluator_id: "tests", pass: true }]);
    resultId = imported?.id ?? "";
    const profile = { evaluator_family: "regex", name: "revised", config: { pattern: "a" } };
    profileId = (await direct.profiles.create(profile)).public_id;
  }, 300_000);
  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  /** A client with its own proxy, which loses the first response. */
  async function loseResponse(
    how: Loss,
  ): Promise<{ proxy: FaultyProxy; shaky: Presage; lost: Promise<void> }> {
    const proxy = await startFaultyProxy(server.url);
    const shaky = createPresage({ baseUrl: proxy.url, apiKey: testKey, retries: 12 });
    return { proxy, shaky, lost: proxy.loseNextResponse(how) };
  }

  const writes: Record<string, Write> = {
    "creates a key": {
      call: (presage, name) => presage.apiKeys.create({ name }),
      count: async (presage, name) =>
        (await presage.apiKeys.list()).filter((key) => key.name === name).length,
    },
    "imports results": {
      call: (presage, name) =>
        presage.results.importBatch([{ evaluator_id: "tests", app: name, pass: true }]),
      count: async (presage, app) => (await presage.results.search({ app })).length,
    },
    "corrects a result": {
      call: (presage, name) => presage.results.correct(resultId, { pass: false, comment: name }),
      // The API shows only the last correction.
      async count(_, name) {
        const rows = store.database.selectFrom("evaluation_corrections").select("id");
        return (await rows.where("comment", "=", name).execute()).length;
      },
    },
    "creates a profile": {
      call: (presage, name) =>
        presage.profiles.create({ evaluator_family: "regex", name, config: { pattern: "a" } }),
      count: async (presage, name) => (await presage.profiles.list({ name })).length,
    },
    "revises a profile": {
      call: (presage, name) =>
        presage.profiles.revise(profileId, { config: { pattern: "a" }, description: name }),
      count: async (presage, name) =>
        (await presage.profiles.list({ public_id: profileId })).filter(
          ({ description }) => description === name,
        ).length,
    },
    "creates a revision of an error taxonomy": {
      call: (presage, name) => presage.errorTaxonomies.create({ error_taxonomy_name: name, body: [] }),
      count: async (presage, name) => (await presage.errorTaxonomies.list({ name })).length,
    },
    evaluates: {
      call: (presage, app) =>
        presage.evaluate({
          app,
          evaluators: [{ evaluator: "exact-match" }],
          evaluated_model_output: "a",
          evaluated_model_gold_answer: "a",
        }),
      count: async (presage, app) => (await presage.results.search({ app })).length,
    },
  };

  const cases = Object.entries(writes);

  describe.each(["before", "halfway"] as const)("After a response that is lost %s,", (how) => {
    test.concurrent.each(cases)("a call that %s is retried and takes effect once", async (what, write) => {
      const name = `${what} ${how}`;
      const { proxy, shaky } = await loseResponse(how);
      expect(await write.call(shaky, name)).toBeDefined();
      expect(proxy.requests).toBe(2);
      expect(await write.count(direct, name)).toBe(1);
      await proxy.stop();
    });
  });

  test("After a server is killed between commit and response, retries succeed once it is back, and everything was done once", async () => {
    const name = "before a kill";
    const calls = await Promise.all(
      cases.map(async ([_, write]) => {
        const { proxy, shaky, lost } = await loseResponse("with the server");
        const response = write.call(shaky, name);
        response.catch(() => {});
        return { proxy, response, lost };
      }),
    );
    await Promise.all(calls.map(({ lost }) => lost));
    await server[Symbol.asyncDispose]();
    server = await spawnPresage(environment);
    direct = createPresage({ baseUrl: server.url, apiKey: testKey });
    for (const { proxy } of calls) proxy.target = server.url;
    expect(await Promise.all(calls.map(({ response }) => response))).not.toContain(undefined);
    const counts = await Promise.all(cases.map(([_, write]) => write.count(direct, name)));
    // Evaluated and imported results are in one app.
    expect(counts).toEqual(cases.map(([what]) => (/^(evaluates|imports)/.test(what) ? 2 : 1)));
    for (const { proxy } of calls) await proxy.stop();
  }, 300_000);

  test("With the caller's own key, the same call of another program is the same request", async () => {
    const first = await direct.apiKeys.create({ name: "mine" }, { idempotencyKey: "deploy-17" });
    const second = await createPresage({ baseUrl: server.url, apiKey: testKey }).apiKeys.create(
      { name: "mine" },
      { idempotencyKey: "deploy-17" },
    );
    expect(second).toEqual(first);
    const other = await caught(direct.apiKeys.create({ name: "other" }, { idempotencyKey: "deploy-17" }));
    expect(other).toMatchObject({ category: "invalid", status: 422 });
    expect(other.issues[0]?.loc).toEqual(["header", "idempotency-key"]);
  });
});

describe("A call that cannot be repeated, such as a sign-out,", () => {
  test("is not retried after a lost response, as its outcome is unknown", async () => {
    const responding = startScriptedServer();
    responding.script(json({ redirect_to: "/" }));
    const proxy = await startFaultyProxy(responding.url);
    const presage = createPresage({ baseUrl: proxy.url, retries: 5 });
    for (const how of ["before", "halfway"] as const) {
      void proxy.loseNextResponse(how);
      responding.received.length = 0;
      expect((await caught(presage.signOut())).category).toBe("connection");
      expect(responding.received).toHaveLength(1);
    }
    await proxy.stop();
    await responding.stop();
  });

  test("is retried if nothing listened, as it was never sent", async () => {
    const port = await freePort();
    let tries = 0;
    const presage = createPresage({
      baseUrl: `http://127.0.0.1:${port}`,
      retries: 10,
      fetch: (url, init) => {
        tries += 1;
        return fetch(url, init);
      },
    });
    const signedOut = presage.signOut();
    await expectEventually(() => tries >= 2, true);
    await using server = Bun.serve({
      hostname: "127.0.0.1",
      port,
      fetch: () => Response.json({ redirect_to: "/" }),
    });
    expect(await signedOut).toEqual({ redirect_to: "/" });
    expect(server.port).toBe(port);
  });
});

describe("A 503 with x-should-retry: false, after which the outcome is unknown,", () => {
  const server = startScriptedServer();
  const presage = createPresage({ baseUrl: server.url, apiKey: "a-key" });
  afterAll(() => server.stop());
  const uncertain = json({ detail: "It is not known." }, 503, {
    "x-should-retry": "false",
    "retry-after": "0",
  });

  test("ends a call without an idempotency key, and the error says so", async () => {
    server.script(uncertain);
    expect(await caught(presage.signOut())).toMatchObject({ category: "unavailable", shouldRetry: false });
    expect(server.received).toHaveLength(1);
    const plain = json({ detail: "Later." }, 503, { "retry-after": "0" });
    server.script(plain);
    expect((await caught(presage.signOut())).shouldRetry).toBeUndefined();
    expect(server.received).toHaveLength(3);
  });

  test("does not end a call with a key, which all its retries share and the next call does not", async () => {
    const made = json({ id: "1" }, 201);
    server.script(uncertain, uncertain, made);
    await presage.apiKeys.create({ name: "a" });
    await presage.apiKeys.create({ name: "a" });
    const [first, second, third, next] = server.received.map(({ headers }) => headers.get("idempotency-key"));
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect([second, third]).toEqual([first, first]);
    expect(next).toMatch(/^[0-9a-f]{32}$/);
    expect(next).not.toBe(first);
  });
});
