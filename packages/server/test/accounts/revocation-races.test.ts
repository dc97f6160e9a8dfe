import { afterAll, beforeAll, expect, test } from "bun:test";
import { ApiKeyCreateResponse, type ApiKeyResponse } from "@presage/contract";
import { addApiKey } from "../../src/accounts/api-keys.ts";
import { endUser } from "../../src/accounts/users.ts";
import { insertUserWithAccount } from "../../src/accounts/users-store.ts";
import { createSignInPath } from "../../src/app/compose-accounts.ts";
import { nowMicros } from "../../src/platform/storage/columns.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { openBrowser } from "../support/sign-in/browser.ts";
import { sessionOf } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { anyRequester } from "../support/store/requester.ts";

const raceRounds = process.env.PRESAGE_TEST_ALL === undefined ? 5 : 15;
/** Some interrupt at the very beginning, some near the end. */
const pausesMs = [0, 2, 5, 10, 40] as const;

onAnyDatabase((database) => {
  let environment: Record<string, string>;
  let databaseUrl: string;
  let one: SpawnedPresage;
  let other: SpawnedPresage;
  let store: Awaited<ReturnType<typeof openStore>>;
  const inOne = apiKeyClient(() => one);
  const inOther = apiKeyClient(() => other);

  beforeAll(async () => {
    databaseUrl = await database.create();
    environment = { PRESAGE_DATABASE_URL: databaseUrl, PRESAGE_LOG_LEVEL: "error" };
    [one, other] = await Promise.all([spawnPresage(environment), spawnPresage(environment)]);
    store = await openStore(databaseUrl);
  }, 300_000);
  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    for (const server of [one, other]) await server?.[Symbol.asyncDispose]();
  });

  const createWith = (server: SpawnedPresage, key: string, name: string) =>
    server.call("POST", "/v1/api-keys", { name }, { "x-api-key": key });
  const named = async (name: string): Promise<ApiKeyResponse[]> =>
    (await inOne.list()).filter((apiKey) => apiKey.name === name);

  /** A user with their own account and a key. */
  async function newUser(): Promise<{ userId: string; key: string }> {
    const user = {
      id: Bun.randomUUIDv7(),
      account_id: Bun.randomUUIDv7(),
      oidc_issuer: "https://issuer.example",
      oidc_subject: crypto.randomUUID(),
      email: null,
      name: null,
      created_at: nowMicros(),
      role: "owner" as const,
    };
    await insertUserWithAccount(store.database, user, user.id);
    const newKey = { userId: user.id, name: "first", expiresAt: null };
    return { userId: user.id, key: (await addApiKey(store.database, store.keyDigest, newKey)).key };
  }

  async function activeKeys(userId: string): Promise<number> {
    const rows = await store.database
      .selectFrom("api_keys")
      .select("id")
      .where("user_id", "=", userId)
      .where("revoked_at", "is", null)
      .execute();
    return rows.length;
  }

  test("A key revoked in one process cannot create or revoke keys in another that still trusts it", async () => {
    const { id, key } = await inOne.create("to be revoked");
    const victim = await inOne.create("not to be revoked");
    expect(await inOther.use(key)).toBe(200);
    expect(await inOne.revoke(id)).toBe(204);
    // The other process trusts it for up to 4.5 s, so the database is checked.
    expect(await inOther.use(key)).toBe(200);
    const answer = await createWith(other, key, "made by a revoked key");
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(await inOther.revoke(victim.id, key)).toBe(401);
    expect(await named("made by a revoked key")).toEqual([]);
    expect((await inOne.find(victim.id))?.revoked_at).toBeNull();
  });

  test("A key revoked on the command line cannot create a key, and neither can an expired one", async () => {
    const { id, key } = await inOne.create("revoked outside");
    expect(await inOther.use(key)).toBe(200);
    expect((await runPresage(["keys", "revoke", id], environment)).code).toBe(0);
    expect((await createWith(other, key, "made after the command")).status).toBe(401);
    expect(await named("made after the command")).toEqual([]);

    const expired = await inOne.create("moved back in time");
    expect(await inOther.use(expired.key)).toBe(200);
    await store.database
      .updateTable("api_keys")
      .set({ expires_at: 1 })
      .where("id", "=", expired.id)
      .execute();
    expect((await createWith(other, expired.key, "made after the expiry")).status).toBe(401);
    expect(await named("made after the expiry")).toEqual([]);
  });

  test("A user whose access was ended keeps none, even if their keys were in use in another process", async () => {
    const { userId, key } = await newUser();
    expect(await inOther.use(key)).toBe(200);
    const ended = await runPresage(["users", "end", userId], environment);
    expect(ended.stdout).toBe("Ended 0 sessions and revoked 1 key.\n");
    expect((await createWith(other, key, "renewed")).status).toBe(401);
    expect(await activeKeys(userId)).toBe(0);
  });

  test("Keys created while their user's access is being ended end with it", async () => {
    let made = 0;
    for (let round = 0; round < raceRounds; round++) {
      const { userId, key } = await newUser();
      expect(await inOther.use(key)).toBe(200);
      const renewals = [one, other, one, other].map((server) => createWith(server, key, "renewed"));
      await Bun.sleep(pausesMs[round % pausesMs.length] ?? 0);
      await endUser(store.database, anyRequester(), userId);
      expect((await createWith(other, key, "renewed")).status).toBe(401);
      const answers = await Promise.all(renewals);
      expect(answers.filter(({ status }) => status !== 201 && status !== 401)).toEqual([]);
      const keys = answers.filter(({ status }) => status === 201);
      made += keys.length;
      expect(await activeKeys(userId)).toBe(0);
      for (const answer of keys) {
        const renewed = ApiKeyCreateResponse.parse(await answer.json());
        expect(await inOne.use(renewed.key)).toBe(401);
      }
    }
    // Some keys must be created in time, or the test would not cover concurrent creation.
    expect(made).toBeGreaterThan(0);
  }, 300_000);

  test("Keys that concurrently revoke each other and themselves do not deadlock", async () => {
    for (let round = 0; round < 5; round++) {
      const [a, b] = [await inOne.create("a"), await inOne.create("b")];
      const statuses = await Promise.all([
        inOne.revoke(a.id, b.key),
        inOther.revoke(b.id, a.key),
        inOther.revoke(a.id, a.key),
        inOne.revoke(b.id, b.key),
      ]);
      expect(statuses.filter((status) => status !== 204 && status !== 401)).toEqual([]);
      expect(statuses).toContain(204);
      const revoked = [await inOne.find(a.id), await inOne.find(b.id)].map((found) => found?.revoked_at);
      expect(revoked.some((at) => at !== null)).toBe(true);
    }
  });

  test("A session that ends while it creates a key, ends a session or signs out does so before its end or not at all", async () => {
    for (let round = 0; round < raceRounds; round++) {
      const signIn = async () => {
        const browser = openBrowser();
        const token = new URL(await createSignInPath(store), one.url).hash.slice(1);
        await browser.fetch(`${one.url}/auth/local`, { method: "POST", body: JSON.stringify({ token }) });
        return (await sessionOf(browser, databaseUrl)).headers;
      };
      const [mine, theirs] = [await signIn(), await signIn()];
      const sessions = await (await one.call("GET", "/v1/sessions", undefined, mine)).json();
      const { data } = sessions as { data: { id: string; is_current: boolean }[] };
      const current = data.find(({ is_current }) => is_current)?.id ?? "";
      const victim = data.find(({ is_current }) => !is_current)?.id ?? "";
      const name = `by a session ${round}`;
      const [created, ended, signedOut] = await Promise.all([
        other.call("POST", "/v1/api-keys", { name }, mine),
        other.call("DELETE", `/v1/sessions/${victim}`, undefined, mine),
        other.call("POST", "/auth/sign-out", undefined, mine),
        Bun.sleep(round % 4).then(() => one.call("DELETE", `/v1/sessions/${current}`, undefined, theirs)),
      ]);
      expect([201, 401]).toContain(created.status);
      expect([204, 401]).toContain(ended.status);
      expect([200, 401]).toContain(signedOut.status);
      expect((await named(name)).length).toBe(created.status === 201 ? 1 : 0);
      const isVictimLive = (await one.call("GET", "/v1/me", undefined, theirs)).status === 200;
      expect(isVictimLive).toBe(ended.status === 401);
    }
  }, 300_000);

  test("A printed address used while its user's access is being ended leaves no session", async () => {
    const { owner } = store;
    for (let round = 0; round < raceRounds; round++) {
      const token = new URL(await createSignInPath(store), one.url).hash.slice(1);
      const signingIn = [one, other].map((server) => server.call("POST", "/auth/local", { token }, {}));
      await Bun.sleep(round % 3);
      // Only sign-ins: the bootstrap key makes the calls of these tests.
      await endUser(store.database, anyRequester(), owner.id);
      await store.database.updateTable("api_keys").set({ revoked_at: null }).execute();
      await Promise.all(signingIn);
      const live = await store.database
        .selectFrom("sessions")
        .select("id")
        .where("user_id", "=", owner.id)
        .where("ended_at", "is", null)
        .execute();
      expect(live).toEqual([]);
    }
  }, 300_000);

  test("A user has at most 1,000 active keys, even with several processes creating them", async () => {
    const { userId, key } = await newUser();
    const rows = Array.from({ length: 998 }, (_, index) => ({
      id: Bun.randomUUIDv7(),
      user_id: userId,
      name: "one of many",
      digest: `${userId} ${index}`,
      prefix: "psg_0000",
      last_four: "0000",
      created_at: nowMicros(),
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
    }));
    await store.database.insertInto("api_keys").values(rows).execute();
    const answers = await Promise.all(
      [one, other, one, other].map((server) => createWith(server, key, "the last one")),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const refusal = await answers.find(({ status }) => status === 409)?.json();
    expect(refusal).toEqual({
      detail: "A user can have 1000 active API keys. Revoke one that is no longer needed, and try again.",
    });
    expect(await inOne.revoke(rows[0]?.id ?? "", key)).toBe(204);
    expect((await createWith(other, key, "in its place")).status).toBe(201);
    expect(await activeKeys(userId)).toBe(1000);
  });
});
