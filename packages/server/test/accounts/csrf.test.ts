import { beforeAll, describe, expect, test } from "bun:test";
import { createSignInPath } from "../../src/app/compose-accounts.ts";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { sessionOf, signInLocally, type TestSession } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  let session: TestSession;

  beforeAll(async () => {
    session = await signIn();
  });

  async function signIn(): Promise<TestSession> {
    await using store = await openStore(presage.databaseUrl);
    const signInAddress = presage.url + (await createSignInPath(store));
    return await sessionOf(await signInLocally({ url: presage.url, signInAddress }), presage.databaseUrl);
  }

  const change = async (headers: Record<string, string>) =>
    await presage.call("POST", "/v1/api-keys", { name: "made by a page" }, headers);

  describe("A changing call with a session", () => {
    test("succeeds with the token of its own page", async () => {
      expect((await change(session.headers)).status).toBe(201);
      for (const site of ["same-origin", "none"]) {
        expect((await change({ ...session.headers, "sec-fetch-site": site })).status).toBe(201);
      }
    });

    test("is rejected without a token, and changes nothing", async () => {
      const listed = async () =>
        (await presage.call("GET", "/v1/api-keys", undefined, { cookie: session.cookie })).json();
      const before = await listed();
      const refused = await change({ cookie: session.cookie });
      expect([refused.status, await refused.json()]).toEqual([
        403,
        { detail: expect.stringContaining("X-CSRF-Token") },
      ]);
      expect(await listed()).toEqual(before);
    });

    test("is rejected with any other token: of another session, cut short, longer, or the session's own", async () => {
      const { csrfToken, cookie, token } = session;
      const other = await signIn();
      for (const wrong of [
        other.csrfToken,
        csrfToken.slice(0, -1),
        `${csrfToken}=`,
        csrfToken.toLowerCase(),
        token,
        "",
        "токен",
      ]) {
        const bytes = Buffer.from(wrong).toString("latin1");
        expect((await change({ cookie, "x-csrf-token": bytes })).status).toBe(403);
      }
    });

    test("is rejected if the browser reports another site as its origin", async () => {
      for (const site of ["cross-site", "same-site", "whatever"]) {
        expect((await change({ ...session.headers, "sec-fetch-site": site })).status).toBe(403);
      }
    });
  });

  test("A read needs no token", async () => {
    for (const method of ["GET", "HEAD"]) {
      const headers = { cookie: session.cookie, "sec-fetch-site": "cross-site" };
      expect((await presage.call(method, "/v1/me", undefined, headers)).status).toBe(200);
    }
  });

  test("A call with a key needs no token, even from a browser with a session", async () => {
    const headers = { cookie: session.cookie, "x-api-key": testKey, "sec-fetch-site": "cross-site" };
    expect((await change(headers)).status).toBe(201);
  });
});
