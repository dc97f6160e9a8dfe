import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { JWTPayload } from "jose";
import {
  type PresageWithProvider,
  startPresageWithProvider,
} from "../support/presage/presage-with-provider.ts";
import { type Browser, openBrowser } from "../support/sign-in/browser.ts";
import { expectFailurePage } from "../support/sign-in/expect-failure-page.ts";
import { callbackAddress, follow, signInAtProvider } from "../support/sign-in/sign-in-at-provider.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const notOurs = /does not belong to a sign-in that this browser started/;
const notBegun = /was not started in this browser/;
const down = /identity provider is unavailable/;

onAnyDatabase((database) => {
  let running: PresageWithProvider;
  let browser: Browser;
  const url = () => running.presage.url;

  beforeAll(async () => {
    running = await startPresageWithProvider(await database.create());
  });
  beforeEach(() => {
    browser = openBrowser();
  });
  afterAll(() => running[Symbol.asyncDispose]());

  async function expectNotSignedIn(who = browser): Promise<void> {
    expect([...who.cookies.keys()].filter((name) => name.includes("presage_session"))).toEqual([]);
  }

  describe("A response of the provider is rejected", () => {
    const altered: [string, (claims: JWTPayload) => JWTPayload][] = [
      ["with another nonce", (claims) => ({ ...claims, nonce: "another" })],
      ["without a nonce", ({ nonce: _nonce, ...claims }) => claims],
      ["whose ID token has expired", (claims) => ({ ...claims, exp: (claims.iat ?? 0) - 3_600 })],
      ["for another client", (claims) => ({ ...claims, aud: "somebody-else" })],
      ["of another issuer", (claims) => ({ ...claims, iss: "https://issuer.example" })],
    ];
    for (const [name, alter] of altered) {
      test(name, async () => {
        running.provider.alterIdToken = alter;
        const { response } = await signInAtProvider(browser, url());
        running.provider.alterIdToken = undefined;
        await expectFailurePage(response, 400, notOurs);
        await expectNotSignedIn();
      });
    }

    test("whose ID token was signed by someone else", async () => {
      running.provider.isForging = true;
      const { response } = await signInAtProvider(browser, url());
      running.provider.isForging = false;
      await expectFailurePage(response, 400, notOurs);
      await expectNotSignedIn();
    });

    test("whose user info is about someone other than the ID token", async () => {
      running.provider.alterIdToken = (claims) => ({ ...claims, sub: "mallory" });
      const { response } = await signInAtProvider(browser, url());
      running.provider.alterIdToken = undefined;
      await expectFailurePage(response, 400, notOurs);
      await expectNotSignedIn();
    });

    test("that was already used in this browser", async () => {
      const callback = await callbackAddress(browser, url());
      expect((await browser.fetch(callback)).status).toBe(303);
      await expectFailurePage(await browser.fetch(callback), 400, notBegun);
    });

    test("whose code was already used, even if the browser kept its cookies", async () => {
      const callback = await callbackAddress(browser, url());
      const again = openBrowser(new Map(browser.cookies));
      expect((await browser.fetch(callback)).status).toBe(303);
      await expectFailurePage(await again.fetch(callback), 400, notOurs);
      await expectNotSignedIn(again);
    });

    test("in another browser than the one that started the sign-in", async () => {
      const callback = await callbackAddress(browser, url());
      const thief = openBrowser();
      await expectFailurePage(await thief.fetch(callback), 400, notBegun);
      await callbackAddress(thief, url());
      await expectFailurePage(await thief.fetch(callback), 400, notBegun);
      await expectNotSignedIn(thief);
      // The code is still valid for its own browser.
      expect((await browser.fetch(callback)).status).toBe(303);
    });

    test("whose state or code was replaced by another sign-in's", async () => {
      const [mine, theirs] = [
        await callbackAddress(browser, url()),
        await callbackAddress(openBrowser(), url()),
      ];
      mine.searchParams.set("code", theirs.searchParams.get("code") ?? "");
      await expectFailurePage(await browser.fetch(mine), 400, notOurs);
      await expectNotSignedIn();
    });

    test("for an attempt whose cookie was altered or is from another time", async () => {
      const callback = await callbackAddress(browser, url());
      const name = [...browser.cookies.keys()].find((key) => key.startsWith("presage_sign_in")) ?? "";
      const sealed = browser.cookies.get(name) ?? "";
      // Does not alter the last characters, not all of whose bits are read.
      const altered = `${sealed.slice(0, -3)}${sealed.at(-3) === "A" ? "B" : "A"}${sealed.slice(-2)}`;
      for (const wrong of [altered, "x", "", "e30.e30.e30.e30.e30"]) {
        browser.cookies.set(name, wrong);
        await expectFailurePage(await browser.fetch(callback), 400, notBegun);
      }
      await expectNotSignedIn();
    });

    test("that is not a valid response", async () => {
      for (const query of ["", "?code=x", "?state=x&code=x", "?error=access_denied", "?state=%00"]) {
        await expectFailurePage(await browser.fetch(`${url()}/auth/callback${query}`), 400, notBegun);
      }
    });
  });

  test("giving up at the provider leads to a page that says so", async () => {
    running.provider.subject = undefined;
    const { response } = await signInAtProvider(browser, url());
    running.provider.subject = "ada";
    await expectFailurePage(response, 403, /refused the sign-in/);
    await expectNotSignedIn();
  });

  test("a wrong client secret is a configuration error: 503, without the secret", async () => {
    const { environment, issuer } = running.provider;
    await using wrong = await startPresageWithProvider(await database.create(), {
      ...environment,
      PRESAGE_OIDC_CLIENT_SECRET: "a-wrong-client-secret-Kp2",
      PRESAGE_PUBLIC_URL: url(),
    });
    const { searchParams } = await callbackAddress(browser, wrong.presage.url);
    expect(searchParams.get("iss")).toBe(issuer);
    const response = await browser.fetch(`${wrong.presage.url}/auth/callback?${searchParams}`);
    expect(await response.clone().text()).not.toContain("secret");
    await expectFailurePage(response, 503, down);
    await expectNotSignedIn();
  });

  describe("While the provider is down", () => {
    test("signing in says so, keys keep working, and signing in works again once the provider is back", async () => {
      await using other = await startPresageWithProvider(await database.create());
      await other.provider.stop();
      const start = `${other.presage.url}/auth/sign-in?return_to=/v1/me`;
      const { response } = await follow(browser, start);
      expect(await response.clone().text()).toContain('href="/auth/sign-in?return_to=/v1/me"');
      await expectFailurePage(response, 503, down);
      expect((await other.presage.call("GET", "/v1/me")).status).toBe(200);
      expect((await fetch(`${other.presage.url}/sign-in`)).status).toBe(200);
      await other.provider.start();
      expect((await follow(browser, start)).response.status).toBe(200);
    });

    test("a browser that returns from it gets an error page that says so", async () => {
      const callback = await callbackAddress(browser, url());
      await running.provider.stop();
      await expectFailurePage(await browser.fetch(callback), 503, down);
      await expectNotSignedIn();
      await running.provider.start();
      expect((await signInAtProvider(browser, url())).response.status).toBe(200);
    });
  });
});
