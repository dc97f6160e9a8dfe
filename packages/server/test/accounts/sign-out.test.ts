import { expect, test } from "bun:test";
import { startPresage } from "../support/presage/presage.ts";
import { startPresageWithProvider } from "../support/presage/presage-with-provider.ts";
import { type Browser, openBrowser } from "../support/sign-in/browser.ts";
import { sessionOf, signInLocally } from "../support/sign-in/session.ts";
import { follow, signInAtProvider } from "../support/sign-in/sign-in-at-provider.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

async function signOut(browser: Browser, presageUrl: string, databaseUrl: string) {
  const { csrfToken } = await sessionOf(browser, databaseUrl);
  const response = await browser.fetch(`${presageUrl}/auth/sign-out`, {
    method: "POST",
    headers: { "x-csrf-token": csrfToken },
  });
  expect(response.status).toBe(200);
  const { redirect_to } = (await response.json()) as { redirect_to: string };
  return { response, redirectTo: new URL(redirect_to, presageUrl) };
}

/** Confirms signing out at the provider. */
async function agree(browser: Browser, url: URL): Promise<URL> {
  const html = await (await browser.fetch(url)).text();
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(html)?.[1] ?? "";
  const response = await browser.fetch(new URL("/session/end/confirm", url), {
    method: "POST",
    body: new URLSearchParams({ xsrf, logout: "yes" }),
  });
  return new URL(response.headers.get("location") ?? "", url);
}

onAnyDatabase((database) => {
  test("Signing out ends the session here and at the provider", async () => {
    const databaseUrl = await database.create();
    await using running = await startPresageWithProvider(databaseUrl);
    const { presage, provider } = running;
    const browser = openBrowser();
    await signInAtProvider(browser, presage.url);
    await signInAtProvider(browser, presage.url);
    expect(provider.logins).toBe(1);
    const before = openBrowser(new Map(browser.cookies));

    const { response, redirectTo } = await signOut(browser, presage.url, databaseUrl);
    expect(response.headers.get("clear-site-data")).toBe('"cache"');
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect([...browser.cookies.keys()].join()).not.toContain("presage_session");
    expect((await before.fetch(`${presage.url}/v1/me`)).status).toBe(401);

    expect(redirectTo.origin + redirectTo.pathname).toBe(`${provider.issuer}/session/end`);
    expect(Object.fromEntries(redirectTo.searchParams)).toEqual({
      client_id: "presage-of-the-tests",
      id_token_hint: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      post_logout_redirect_uri: `${presage.url}/sign-in?signed_out`,
    });
    expect((await agree(browser, redirectTo)).href).toBe(`${presage.url}/sign-in?signed_out`);
    await signInAtProvider(browser, presage.url);
    expect(provider.logins).toBe(2);
  });

  test("A long ID token does not prevent signing out at the provider", async () => {
    const databaseUrl = await database.create();
    await using running = await startPresageWithProvider(databaseUrl);
    running.provider.alterIdToken = (claims) => ({ ...claims, groups: Array(1_000).fill("analysts") });
    const browser = openBrowser();
    await signInAtProvider(browser, running.presage.url);
    const { redirectTo } = await signOut(browser, running.presage.url, databaseUrl);
    expect((await browser.fetch(redirectTo)).status).toBe(200);
    expect((await agree(browser, redirectTo)).href).toBe(`${running.presage.url}/sign-in?signed_out`);
  });

  test("An ID token is stored only as long as its session", async () => {
    const databaseUrl = await database.create();
    await using running = await startPresageWithProvider(databaseUrl);
    const browser = openBrowser();
    await signInAtProvider(browser, running.presage.url);
    await using store = await openStore(databaseUrl);
    const idTokens = async () =>
      (await store.database.selectFrom("sessions").select("id_token").execute()).map((row) => row.id_token);
    expect(await idTokens()).toEqual([expect.any(String)]);
    await signOut(browser, running.presage.url, databaseUrl);
    expect(await idTokens()).toEqual([null]);
  });

  test("If the provider is down or has no sign-out page, signing out leads to the sign-in page", async () => {
    const databaseUrl = await database.create();
    await using running = await startPresageWithProvider(databaseUrl);
    const browser = openBrowser();
    await signInAtProvider(browser, running.presage.url);
    await running.presage.stop();
    await running.provider.stop();
    // A process that has not contacted the provider yet.
    const { environment } = running.provider;
    const restarted = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl, ...environment });
    const { redirectTo } = await signOut(browser, restarted.url, databaseUrl);
    expect(redirectTo.href).toBe(`${restarted.url}/sign-in?signed_out`);
    expect((await browser.fetch(`${restarted.url}/v1/me`)).status).toBe(401);
    await restarted.stop();
    await running.provider.start();
  });

  test("In local mode signing out leads to the sign-in page, and so do all pages", async () => {
    const databaseUrl = await database.create();
    const presage = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl });
    const browser = await signInLocally(presage);
    const { redirectTo } = await signOut(browser, presage.url, databaseUrl);
    expect(redirectTo.href).toBe(`${presage.url}/sign-in?signed_out`);
    const { url } = await follow(browser, `${presage.url}/usage?day=1`);
    expect(url.href).toBe(`${presage.url}/sign-in?return_to=%2Fusage%3Fday%3D1`);
    await presage.stop();
  });

  test("A key cannot sign out", async () => {
    const presage = await startPresage({ PRESAGE_DATABASE_URL: await database.create() });
    expect((await presage.call("POST", "/auth/sign-out")).status).toBe(403);
    await presage.stop();
  });
});
