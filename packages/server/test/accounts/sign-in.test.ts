import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { MeResponse } from "@presage/contract";
import { startPresage } from "../support/presage/presage.ts";
import {
  type PresageWithProvider,
  startPresageWithProvider,
} from "../support/presage/presage-with-provider.ts";
import { openBrowser } from "../support/sign-in/browser.ts";
import { signInLocally } from "../support/sign-in/session.ts";
import { callbackAddress, follow, signInAtProvider } from "../support/sign-in/sign-in-at-provider.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

onAnyDatabase((database) => {
  let databaseUrl: string;
  let running: PresageWithProvider;
  const url = () => running.presage.url;

  beforeAll(async () => {
    databaseUrl = await database.create();
    running = await startPresageWithProvider(databaseUrl);
  });
  afterAll(() => running[Symbol.asyncDispose]());

  async function signIn(browser = openBrowser()): Promise<MeResponse> {
    const { response } = await signInAtProvider(browser, url());
    expect(response.status).toBe(200);
    return MeResponse.parse(await response.json());
  }

  describe("Signing in at the provider", () => {
    test("creates a user from the provider's claims, and redirects to the requested page", async () => {
      const arrival = await signInAtProvider(openBrowser(), url(), "/v1/me?from=here");
      expect(arrival.url.href).toBe(`${url()}/v1/me?from=here`);
      expect(await arrival.response.json()).toStrictEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        email: "ada@example.org",
        name: "Ada",
        oidc_issuer: running.provider.issuer,
        oidc_subject: "ada",
        role: "owner",
        capture: { setting: "off", max_age_days: 30 },
        server_version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      });
    });

    test("uses PKCE, a state and a nonce, different each time", async () => {
      const isAway = (next: URL) => next.origin === running.provider.issuer;
      const asked = await Promise.all(
        [1, 2].map(() => follow(openBrowser(), `${url()}/auth/sign-in`, isAway)),
      );
      const [one, two] = asked.map(({ url: { searchParams } }) => Object.fromEntries(searchParams));
      expect(one).toStrictEqual({
        client_id: "presage-of-the-tests",
        redirect_uri: `${url()}/auth/callback`,
        response_type: "code",
        scope: "openid email profile",
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge_method: "S256",
        state: expect.stringMatching(/^[\w-]{43}$/),
        nonce: expect.stringMatching(/^[\w-]{43}$/),
      });
      for (const name of ["state", "nonce", "code_challenge"]) expect(one?.[name]).not.toBe(two?.[name]);
    });

    test("sets cookies that scripts and other sites cannot use, and keeps only the session's", async () => {
      const browser = openBrowser();
      const isAway = (next: URL) => next.origin === running.provider.issuer;
      const { response } = await follow(browser, `${url()}/auth/sign-in`, isAway);
      expect(response.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          /^presage_sign_in_\w{8}_[\w-]{16}=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
        ),
      ]);
      const back = await browser.fetch(await callbackAddress(browser, url()));
      expect(back.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          /^presage_session_\w{8}=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/,
        ),
        expect.stringMatching(
          /^presage_sign_in_\w{8}_[\w-]{16}=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/,
        ),
      ]);
    });

    test("works in two tabs at once", async () => {
      const browser = openBrowser();
      const first = await callbackAddress(browser, url());
      const second = await callbackAddress(browser, url());
      for (const tab of [first, second]) expect((await browser.fetch(tab)).status).toBe(303);
      expect((await browser.fetch(`${url()}/v1/me`)).status).toBe(200);
    });

    test("can begin in one process and end in another", async () => {
      const other = await startPresage({
        PRESAGE_DATABASE_URL: databaseUrl,
        PRESAGE_PUBLIC_URL: url(),
        ...running.provider.environment,
      });
      const browser = openBrowser();
      const { search } = await callbackAddress(browser, url());
      const back = await browser.fetch(`${other.url}/auth/callback${search}`);
      expect([back.status, back.headers.get("location")]).toEqual([303, "/"]);
      expect((await browser.fetch(`${url()}/v1/me`)).status).toBe(200);
      await other.stop();
    });

    test("that is restarted many times does not accumulate cookies, even with long addresses", async () => {
      const browser = openBrowser();
      const isAway = (next: URL) => next.origin === running.provider.issuer;
      const start = `${url()}/auth/sign-in?return_to=/${"a".repeat(1_999)}`;
      for (let time = 0; time < 20; time++) await follow(browser, start, isAway);
      // Bun rejects 16 KB of headers, and other servers on the host set cookies too.
      expect([...browser.cookies].join().length).toBeLessThan(10_000);
      expect((await signIn(browser)).email).toBe("ada@example.org");
    });

    test("can lead to a page whose address has characters that headers cannot contain", async () => {
      for (const page of ["/v1/me?from=日本", "/v1/me?from=ü z"]) {
        const arrival = await signInAtProvider(openBrowser(), url(), page);
        expect([arrival.response.status, arrival.url.href]).toEqual([200, new URL(page, url()).href]);
      }
    });
  });

  describe("A second sign-in", () => {
    test("finds the same user and updates name and e-mail", async () => {
      const first = await signIn();
      running.provider.people.set("ada", { name: "Ada L.", email: "a.l@example.org" });
      expect(await signIn()).toEqual({ ...first, name: "Ada L.", email: "a.l@example.org" });
      running.provider.people.set("ada", { name: "Ada", email: "ada@example.org" });
      expect(await signIn()).toEqual(first);
    });

    test("accepts unusual names", async () => {
      for (const name of ["<script>alert(1)</script>", "\u202eadA", "A\u0000da", "\ud83d", "爱达 🙂"]) {
        running.provider.alterIdToken = (claims) => ({ ...claims, name });
        const kept = name.toWellFormed().replace("\0", "\ufffd");
        expect((await signIn()).name).toBe(kept);
      }
      running.provider.alterIdToken = undefined;
      expect((await signIn()).name).toBe("Ada");
    });

    test("in the same browser ends the previous session", async () => {
      const browser = openBrowser();
      await signIn(browser);
      const earlier = openBrowser(new Map(browser.cookies));
      await signIn(browser);
      expect((await earlier.fetch(`${url()}/v1/me`)).status).toBe(401);
      expect((await browser.fetch(`${url()}/v1/me`)).status).toBe(200);
    });

    test("by someone else is another user in the same account", async () => {
      const ada = await signIn();
      running.provider.people.set("bob", { email: "ada@example.org", name: "Bob" });
      running.provider.subject = "bob";
      const bob = await signIn();
      running.provider.subject = "ada";
      expect(bob).toMatchObject({ name: "Bob", oidc_subject: "bob" });
      expect(bob.id).not.toBe(ada.id);
      await using store = await openStore(databaseUrl);
      const users = await store.database.selectFrom("users").selectAll().execute();
      expect(new Set(users.map(({ account_id }) => account_id)).size).toBe(1);
    });
  });

  test("claims in the ID token take precedence over user info", async () => {
    running.provider.alterIdToken = (claims) => ({ ...claims, email: "token@example.org" });
    expect(await signIn()).toMatchObject({ email: "token@example.org", name: "Ada" });
    running.provider.alterIdToken = undefined;
  });

  test("redirects never leave this server", async () => {
    for (const elsewhere of [
      "https://evil.example/",
      "//evil.example",
      "/\\evil.example",
      "\\\\evil.example",
      "/\t/evil.example",
      "/\n/evil.example",
      "javascript:alert(1)",
      "evil.example",
      `/${"a".repeat(3_000)}`,
      "",
    ]) {
      const start = `${url()}/auth/sign-in?return_to=${encodeURIComponent(elsewhere)}`;
      const arrival = await follow(openBrowser(), start, (next) => next.pathname === "/");
      expect([elsewhere, arrival.url.href]).toEqual([elsewhere, `${url()}/`]);
    }
  });

  test("printed addresses do not sign in, and sessions from earlier ones are invalid", async () => {
    const url = await database.create();
    const local = await startPresage({ PRESAGE_DATABASE_URL: url });
    const browser = await signInLocally(local);
    await local.stop();
    await using openid = await startPresageWithProvider(url);
    expect(openid.presage.signInAddress).toBeUndefined();
    const answer = await openid.presage.call("POST", "/auth/local", { token: "x".repeat(43) }, {});
    expect(answer.status).toBe(404);
    expect((await browser.fetch(`${openid.presage.url}/v1/me`)).status).toBe(401);
  });

  test("the sign-in page names the provider, and passes on the return address", async () => {
    const page = await (await fetch(`${url()}/sign-in?return_to=%2Fusage%3Fa%3D%22b`)).text();
    expect(page).toContain(`<strong>${new URL(running.provider.issuer).host}</strong>`);
    expect(page).toContain(`href="${url()}/auth/sign-in?return_to=%2Fusage%3Fa%3D%22b"`);
    expect(await (await fetch(`${url()}/sign-in?signed_out`)).text()).toContain("You are signed out");
  });

  test("the page redirects to the address registered at the provider, whatever the Host header", async () => {
    const { port } = new URL(url());
    const page = await (await fetch(`http://localhost:${port}/sign-in`)).text();
    expect(page).toContain(`href="${url()}/auth/sign-in?return_to=%2F"`);
  });
});
