import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPresage, type TestPresage, testKey } from "../../server/test/support/presage/presage.ts";
import { sessionOf, signInLocally } from "../../server/test/support/sign-in/session.ts";
import { createPresage, type Presage } from "../src/create-presage.ts";
import { caught } from "./support/caught.ts";

let directory: string;
let server: TestPresage;
let presage: Presage;
/** The token that a page would have. */
let csrfToken: string | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-sdk-sessions-"));
  const databaseUrl = `sqlite:${join(directory, "presage.db")}`;
  server = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl });
  const session = await sessionOf(await signInLocally(server), databaseUrl);
  csrfToken = session.csrfToken;
  presage = createPresage({
    baseUrl: server.url,
    csrfToken: () => csrfToken,
    // A browser adds the cookie by itself.
    fetch: (url, init) =>
      fetch(url, { ...init, headers: { ...init.headers, cookie: session.cookie } as Record<string, string> }),
  });
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

test("a page lists the sessions of its user, ends one, and signs out", async () => {
  const [session, ...others] = await presage.sessions.list();
  expect(others).toEqual([]);
  expect(session).toMatchObject({ is_current: true, user_agent: expect.any(String) });
  expect((await presage.whoAmI()).session?.id).toBe(session?.id ?? "");
  expect(await caught(presage.sessions.end(crypto.randomUUID()))).toMatchObject({ category: "not_found" });

  const proof = csrfToken;
  csrfToken = undefined;
  expect(await caught(presage.signOut())).toMatchObject({ category: "forbidden", status: 403 });
  csrfToken = proof;
  expect(await presage.signOut()).toEqual({ redirect_to: "/sign-in?signed_out" });
  expect(await caught(presage.sessions.list())).toMatchObject({ category: "unauthenticated" });
});

test("with a key, the user's sessions can be listed and ended, and there is none to sign out of", async () => {
  const withKey = createPresage({ baseUrl: server.url, apiKey: testKey });
  expect(await withKey.sessions.list()).toEqual([]);
  expect(await caught(withKey.sessions.end("../me"))).toMatchObject({ category: "invalid" });
  expect(await caught(withKey.signOut())).toMatchObject({ category: "forbidden" });
});
