import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ApiKeyCreateResponse, MeResponse } from "@presage/contract";
import { createSignInPath } from "../../src/app/compose-accounts.ts";
import { expectEventually } from "../support/eventually.ts";
import { startPresage, testKey } from "../support/presage/presage.ts";
import {
  type PresageWithProvider,
  startPresageWithProvider,
} from "../support/presage/presage-with-provider.ts";
import { type Ran, runPresage } from "../support/presage/run-presage.ts";
import { type Browser, openBrowser } from "../support/sign-in/browser.ts";
import { sessionOf } from "../support/sign-in/session.ts";
import { signInAtProvider } from "../support/sign-in/sign-in-at-provider.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

onAnyDatabase((database) => {
  let databaseUrl: string;
  let running: PresageWithProvider;

  beforeAll(async () => {
    databaseUrl = await database.create();
    running = await startPresageWithProvider(databaseUrl);
    running.provider.people.set("ada", { name: "Ada", email: "Ada@example.org" });
    running.provider.people.set("bob", { name: "Bob", email: "bob@example.org" });
  });
  afterAll(() => running[Symbol.asyncDispose]());

  async function users(...args: string[]): Promise<Ran> {
    const environment = { PRESAGE_DATABASE_URL: databaseUrl, ...running.provider.environment };
    return await runPresage(["users", ...args], environment);
  }

  /** What `users list --json` prints about a user. */
  async function listed(name: string): Promise<Record<string, unknown> | undefined> {
    const { stdout } = await users("list", "--json");
    const lines = stdout.trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line)).find((user) => user.name === name);
  }

  async function signIn(subject: string): Promise<{ browser: Browser; id: string }> {
    running.provider.subject = subject;
    const browser = openBrowser();
    const { response } = await signInAtProvider(browser, running.presage.url);
    return { browser, id: MeResponse.parse(await response.json()).id };
  }

  const use = async (browser: Browser) => (await browser.fetch(`${running.presage.url}/v1/me`)).status;
  const useKey = async (key: string) =>
    (await running.presage.call("GET", "/v1/me", undefined, { "x-api-key": key })).status;

  async function makeKey(browser: Browser): Promise<string> {
    const { headers } = await sessionOf(browser, databaseUrl);
    const response = await running.presage.call("POST", "/v1/api-keys", { name: "a key" }, headers);
    return ApiKeyCreateResponse.parse(await response.json()).key;
  }

  describe("presage users", () => {
    test("lists users with their provider, live sessions and active keys", async () => {
      const { browser, id } = await signIn("bob");
      await makeKey(browser);
      const { issuer } = running.provider;
      expect(await listed("Bob")).toEqual({
        ...{ id, email: "bob@example.org", name: "Bob", oidc_issuer: issuer, account_name: "default" },
        ...{ created_at: expect.stringMatching(/^\d{4}-.*Z$/), live_sessions: 1, active_keys: 1 },
        role: "owner",
      });
      expect(await listed("Owner")).toMatchObject({
        oidc_issuer: "urn:presage:local",
        live_sessions: 0,
        active_keys: 1,
      });
    });

    test("prints a table with headings", async () => {
      const { id } = await signIn("bob");
      const { code, stdout } = await users("list");
      const lines = stdout.split("\n");
      expect([code, lines[0]]).toEqual([
        0,
        expect.stringMatching(/^ID +E-MAIL +ROLE +SESSIONS +KEYS +NAME +CREATED +ACCOUNT +PROVIDER$/),
      ]);
      const line = lines.find((text) => text.startsWith(id)) ?? "";
      expect(line).toMatch(
        /^\S+ {2}bob@example\.org {2}owner +\d+ +\d+ {2}Bob +\d{4}-\d\d-\d\d {2}default +http/,
      );
      expect(line.indexOf("bob@")).toBe(lines[0]?.indexOf("E-MAIL") ?? 0);
    });

    test("escapes names that would control the terminal", async () => {
      running.provider.people.set("eve", { name: "\u001b[2J\u009b2J\u202eEve\nline" });
      await signIn("eve");
      expect((await users("list")).stdout).toContain(String.raw`\u{1b}[2J\u{9b}2J\u{202e}Eve\u{a}line`);
      expect((await users("list", "--json")).stdout).toContain(
        String.raw`"\u001b[2J\u009b2J\u202eEve\nline"`,
      );
    });

    test("ends all sessions and keys of one user, given by e-mail, and no one else's", async () => {
      const [one, two, bob] = [await signIn("ada"), await signIn("ada"), await signIn("bob")];
      const [key, bobsKey] = [await makeKey(one.browser), await makeKey(bob.browser)];
      expect([await useKey(key), await useKey(bobsKey)]).toEqual([200, 200]);
      const { code, stdout, stderr } = await users("end", "ada@EXAMPLE.org");
      expect([code, stdout]).toEqual([0, "Ended 2 sessions and revoked 1 key.\n"]);
      expect(stderr).toContain(`A user who can still sign in at ${running.provider.issuer} regains access.`);
      expect([await use(one.browser), await use(two.browser), await use(bob.browser)]).toEqual([
        401, 401, 200,
      ]);
      await expectEventually(() => useKey(key), 401);
      expect(await useKey(bobsKey)).toBe(200);
      expect(await listed("Ada")).toMatchObject({ live_sessions: 0, active_keys: 0 });
      expect((await users("end", one.id)).stdout).toBe("Ended 0 sessions and revoked 0 keys.\n");
    });

    test("allows the same user to sign in again", async () => {
      const { id } = await signIn("ada");
      expect((await users("end", id.toUpperCase())).code).toBe(0);
      const again = await signIn("ada");
      expect([again.id, await use(again.browser)]).toEqual([id, 200]);
    });

    test("rejects an unknown or ambiguous name, and ends nothing", async () => {
      running.provider.people.set("twin", { name: "Twin", email: "bob@example.org" });
      const [bob, twin] = [await signIn("bob"), await signIn("twin")];
      expect(await users("end", "bob@example.org")).toMatchObject({
        code: 1,
        stdout: "",
        stderr: "2 users have the e-mail address bob@example.org; use an id instead.\n",
      });
      expect(await users("end", "nobody")).toMatchObject({ code: 1, stderr: "There is no user nobody.\n" });
      expect([await use(bob.browser), await use(twin.browser)]).toEqual([200, 200]);
    });

    test("finds a user whose address has capital letters beyond ASCII, as it is stored", async () => {
      running.provider.people.set("joerg", { name: "Jörg", email: "JÖRG@example.org" });
      const { browser } = await signIn("joerg");
      expect(await users("end", "JÖRG@example.org")).toMatchObject({ code: 0 });
      expect(await use(browser)).toBe(401);
    });

    test("ends the owner's bootstrap key for good, and unused printed addresses", async () => {
      const url = await database.create();
      const local = await startPresage({ PRESAGE_DATABASE_URL: url });
      await using store = await openStore(url);
      const path = await createSignInPath(store);
      const { stdout, stderr } = await runPresage(["users", "end", store.owner.id], {
        PRESAGE_DATABASE_URL: url,
      });
      expect(stdout).toBe("Ended 0 sessions and revoked 1 key.\n");
      expect(stderr).toBe("Running servers reject the keys within 5 s.\n");
      const token = path.split("#")[1];
      expect((await local.call("POST", "/auth/local", { token }, {})).status).toBe(401);
      await local.stop();
      const restarted = await startPresage({ PRESAGE_DATABASE_URL: url, PRESAGE_BOOTSTRAP_KEY: testKey });
      expect((await restarted.call("GET", "/v1/me")).status).toBe(401);
      await restarted.stop();
    });
  });
});
