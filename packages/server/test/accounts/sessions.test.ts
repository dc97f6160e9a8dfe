import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SessionListResponse } from "@presage/contract";
import { microsPerMs, nowMicros } from "../../src/platform/storage/columns.ts";
import type { SessionsTable } from "../../src/platform/storage/schema/accounts.ts";
import { freePort } from "../support/free-port.ts";
import { startPresage, testKey } from "../support/presage/presage.ts";
import {
  type PresageWithProvider,
  startPresageWithProvider,
} from "../support/presage/presage-with-provider.ts";
import { type Browser, openBrowser } from "../support/sign-in/browser.ts";
import { expectFailurePage } from "../support/sign-in/expect-failure-page.ts";
import { sessionOf, signInLocally } from "../support/sign-in/session.ts";
import { signInAtProvider } from "../support/sign-in/sign-in-at-provider.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { startRelay } from "../support/store/relay.ts";

const minute = 60_000 * microsPerMs;
const hour = 60 * minute;

onAnyDatabase((database) => {
  let databaseUrl: string;
  let running: PresageWithProvider;

  beforeAll(async () => {
    databaseUrl = await database.create();
    running = await startPresageWithProvider(databaseUrl, {
      PRESAGE_SESSION_IDLE_MINUTES: "30",
      PRESAGE_SESSION_MAX_HOURS: "10",
    });
  });
  afterAll(() => running[Symbol.asyncDispose]());

  async function signIn(subject = "ada"): Promise<Browser> {
    running.provider.subject = subject;
    const browser = openBrowser();
    expect((await signInAtProvider(browser, running.presage.url)).response.status).toBe(200);
    running.provider.subject = "ada";
    return browser;
  }

  async function list(browser: Browser): Promise<SessionListResponse["data"]> {
    const response = await browser.fetch(`${running.presage.url}/v1/sessions`);
    expect(response.status).toBe(200);
    return SessionListResponse.parse(await response.json()).data;
  }

  async function end(browser: Browser, id: string): Promise<number> {
    const { csrfToken } = await sessionOf(browser, databaseUrl);
    const headers = { "x-csrf-token": csrfToken };
    const path = `/v1/sessions/${id}`;
    return (await browser.fetch(running.presage.url + path, { method: "DELETE", headers })).status;
  }

  async function idOf(browser: Browser): Promise<string> {
    return (await list(browser)).find(({ is_current }) => is_current)?.id ?? "";
  }

  const use = async (browser: Browser, url = running.presage.url) =>
    (await browser.fetch(`${url}/v1/me`)).status;

  /** Makes a session older. */
  async function set(id: string, fields: Partial<SessionsTable>): Promise<void> {
    await using store = await openStore(databaseUrl);
    await store.database.updateTable("sessions").set(fields).where("id", "=", id).execute();
  }

  async function rowOf(id: string): Promise<SessionsTable | undefined> {
    await using store = await openStore(databaseUrl);
    return await store.database.selectFrom("sessions").selectAll().where("id", "=", id).executeTakeFirst();
  }

  describe("A session", () => {
    test("ends after the idle limit without use, and not before", async () => {
      const browser = await signIn();
      const id = await idOf(browser);
      await set(id, { last_seen_at: nowMicros() - 29 * minute });
      expect(await use(browser)).toBe(200);
      await set(id, { last_seen_at: nowMicros() - 30 * minute });
      expect(await use(browser)).toBe(401);
      expect((await list(await signIn())).map((session) => session.id)).not.toContain(id);
    });

    test("ends at its absolute limit, even if in use", async () => {
      const browser = await signIn();
      const id = await idOf(browser);
      const { created_at = 0, expires_at = 0 } = (await rowOf(id)) ?? {};
      expect(expires_at - created_at).toBe(10 * hour);
      await set(id, { expires_at: nowMicros() });
      expect(await use(browser)).toBe(401);
    });

    test("records its use at most once a minute", async () => {
      const browser = await signIn();
      const id = await idOf(browser);
      const started = await rowOf(id);
      await use(browser);
      expect(await rowOf(id)).toEqual(started);
      const longAgo = nowMicros() - 2 * minute;
      await set(id, { last_seen_at: longAgo });
      await use(browser);
      expect((await rowOf(id))?.last_seen_at).toBeGreaterThan(longAgo + minute);
    });

    test("with an idle limit of one minute stays alive if used every half minute", async () => {
      const local = await startPresage({
        PRESAGE_DATABASE_URL: databaseUrl,
        PRESAGE_PUBLIC_URL: running.presage.url,
        ...running.provider.environment,
        PRESAGE_SESSION_IDLE_MINUTES: "1",
      });
      const browser = await signIn();
      const id = await idOf(browser);
      await set(id, { last_seen_at: nowMicros() - minute / 2 });
      expect(await use(browser, local.url)).toBe(200);
      expect((await rowOf(id))?.last_seen_at).toBeGreaterThan(nowMicros() - minute / 4);
      await local.stop();
    });

    test("is stored as a digest, and its user agent is truncated", async () => {
      const browser = openBrowser();
      const { response } = await signInAtProvider(
        {
          cookies: browser.cookies,
          fetch: (url, init) => browser.fetch(url, { ...init, headers: { "user-agent": "B".repeat(500) } }),
        },
        running.presage.url,
      );
      expect(response.status).toBe(200);
      const { token, csrfToken } = await sessionOf(browser, databaseUrl);
      const row = await rowOf(await idOf(browser));
      expect(row?.user_agent).toBe("B".repeat(200));
      for (const secret of [token, csrfToken]) expect(JSON.stringify(row)).not.toContain(secret);
    });

    test("that has ended is deleted by a later sign-in", async () => {
      const browser = await signIn();
      const id = await idOf(browser);
      await set(id, { expires_at: 1 });
      expect(await rowOf(id)).toBeDefined();
      await signIn();
      expect(await rowOf(id)).toBeUndefined();
    });

    test("never gets a cacheable response", async () => {
      const browser = await signIn();
      for (const path of ["/v1/me", "/v1/api-keys", "/v1/evaluators", "/v1/nothing"]) {
        const { status, headers } = await browser.fetch(running.presage.url + path);
        expect([path, status, headers.get("cache-control")]).toEqual(
          path === "/v1/nothing" ? [path, 404, null] : [path, 200, "no-store"],
        );
      }
      const withKey = await running.presage.call("GET", "/v1/me");
      expect(withKey.headers.has("cache-control")).toBe(false);
    });

    test("is ignored if there is a key: an invalid key is rejected, a valid one is the caller", async () => {
      const browser = await signIn();
      const { cookie } = await sessionOf(browser, databaseUrl);
      const me = (headers: Record<string, string>) =>
        running.presage.call("GET", "/v1/me", undefined, headers);
      expect((await me({ cookie, "x-api-key": "psg_wrong" })).status).toBe(401);
      expect((await me({ cookie, authorization: "Bearer wrong" })).status).toBe(401);
      expect((await me({ cookie, "x-api-key": testKey, authorization: "Bearer wrong" })).status).toBe(401);
      const withKey = await me({ cookie, "x-api-key": testKey });
      expect(await withKey.json()).toMatchObject({ oidc_subject: "owner" });
      // A proxy's own credentials are not a key.
      expect((await me({ cookie, authorization: "Basic abc" })).status).toBe(200);
    });
  });

  describe("GET /v1/sessions", () => {
    test("lists the user's own, newest first, and marks the current one", async () => {
      running.provider.people.set("carol", { name: "Carol" });
      const [one, two, other] = [await signIn("carol"), await signIn("carol"), await signIn()];
      const listed = await list(two);
      expect(listed).toStrictEqual(
        [await idOf(two), await idOf(one)].map((id, index) => ({
          id,
          user_agent: expect.stringMatching(/^Bun\//),
          created_at: expect.any(String),
          last_seen_at: expect.any(String),
          expires_at: expect.any(String),
          is_current: index === 0,
        })),
      );
      expect(listed.map(({ id }) => id)).not.toContain(await idOf(other));
    });

    test("with a key shows the owner's, none of them current", async () => {
      const response = await running.presage.call("GET", "/v1/sessions");
      expect(await response.json()).toEqual({ data: [], next: null });
    });
  });

  describe("DELETE /v1/sessions/{session_id}", () => {
    test("ends a session immediately, in every process", async () => {
      const other = await startPresage({
        PRESAGE_DATABASE_URL: databaseUrl,
        PRESAGE_PORT: String(await freePort()),
        ...running.provider.environment,
      });
      const [mine, lost] = [await signIn(), await signIn()];
      expect(await use(lost, other.url)).toBe(200);
      const id = await idOf(lost);
      expect(await end(mine, id)).toBe(204);
      expect([await use(lost), await use(lost, other.url), await use(mine, other.url)]).toEqual([
        401, 401, 200,
      ]);
      expect(await end(mine, id.toUpperCase())).toBe(204);
      await other.stop();
    });

    test("can end the current session", async () => {
      const browser = await signIn();
      expect(await end(browser, await idOf(browser))).toBe(204);
      expect(await use(browser)).toBe(401);
    });

    test("is 404 for someone else's or an unknown session, and 422 for an invalid id", async () => {
      running.provider.people.set("dave", { name: "Dave" });
      const [mine, theirs] = [await signIn(), await signIn("dave")];
      expect(await end(mine, await idOf(theirs))).toBe(404);
      expect(await end(mine, crypto.randomUUID())).toBe(404);
      expect(await end(mine, "mine")).toBe(422);
      expect(await use(theirs)).toBe(200);
    });
  });

  if (database.name === "PostgreSQL") {
    test("while the database is unavailable a session is 503 and never 401, for pages too", async () => {
      const direct = new URL(await database.create());
      const relay = await startRelay(Number(direct.port));
      const url = direct.href;
      direct.port = String(relay.port);
      const presage = await startPresage({ PRESAGE_DATABASE_URL: direct.href });
      const { cookie } = await sessionOf(await signInLocally(presage), url);
      const ask = (path: string) => presage.call("GET", path, undefined, { cookie });
      expect((await ask("/v1/me")).status).toBe(200);
      await relay.stop();
      expect((await ask("/v1/me")).status).toBe(503);
      await expectFailurePage(await ask("/usage"), 503, /database is unavailable/);
      expect((await presage.call("GET", "/v1/me", undefined, {})).status).toBe(401);
      await presage.stop();
    }, 300_000);
  }

  describe("A session started with another way to sign in", () => {
    /** A Presage on the same database, at the same address. */
    const startBeside = (environment: Record<string, string>) =>
      startPresage({
        PRESAGE_DATABASE_URL: databaseUrl,
        PRESAGE_PUBLIC_URL: running.presage.url,
        ...environment,
      });

    test("is invalid in local mode and at another provider, and valid again with its own", async () => {
      const browser = await signIn();
      const own = running.provider.environment;
      for (const environment of [{}, { ...own, PRESAGE_OIDC_ISSUER: `${own.PRESAGE_OIDC_ISSUER}/tenant` }]) {
        const other = await startBeside(environment);
        expect(await use(browser, other.url)).toBe(401);
        await other.stop();
      }
      const same = await startBeside(own);
      expect([await use(browser, same.url), await use(browser)]).toEqual([200, 200]);
      await same.stop();
    });

    test("is in no list", async () => {
      const local = await startBeside({});
      await signInLocally(local);
      const listed = async (url: string) => {
        const response = await fetch(`${url}/v1/sessions`, { headers: { "x-api-key": testKey } });
        return SessionListResponse.parse(await response.json()).data.length;
      };
      expect([await listed(local.url), await listed(running.presage.url)]).toEqual([1, 0]);
      await local.stop();
    });

    test("is valid whatever issuer the provider puts into its tokens", async () => {
      const browser = await signIn();
      const id = await idOf(browser);
      await using store = await openStore(databaseUrl);
      const user = { oidc_issuer: "https://issuer.example/tenant" };
      await store.database.updateTable("users").set(user).where("oidc_subject", "=", "ada").execute();
      expect(await use(browser)).toBe(200);
      expect((await rowOf(id))?.issuer).toBe(running.provider.issuer);
    });
  });

  test("two Presages on one host do not sign each other out", async () => {
    const browser = await signIn();
    await using neighbour = await startPresageWithProvider(await database.create());
    await signInAtProvider(browser, neighbour.presage.url);
    expect([await use(browser), await use(browser, neighbour.presage.url)]).toEqual([200, 200]);
  });
});
