import { afterAll, beforeAll, expect, test } from "bun:test";
import { createSignInPath } from "../../src/compose/compose-sign-in.ts";
import { startPresage, type TestPresage } from "../support/presage/presage.ts";
import { askEveryRoute, fillIn, readDocumentedRoutes } from "../support/routes.ts";
import { sessionOf, signInLocally, type TestSession } from "../support/sign-in/session.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

interface Operation {
  method: string;
  path: string;
}

/** In no document, and for who is signed in. */
const pages = [
  "GET /",
  "GET /account",
  "GET /api-keys",
  "GET /error-taxonomies",
  "GET /error-taxonomies/:taxonomy_id",
  "GET /evaluations",
  "GET /evaluators",
  "GET /evaluators/profiles/:public_id",
  "GET /playground",
  "GET /usage",
];
/** In no document, and for anybody: the ways in, and the files of pages. */
const waysIn = ["GET /sign-in", "POST /auth/local", "GET /auth/sign-in", "GET /auth/callback"];
const files = [
  "GET /assets/:name",
  "GET /docs/start.js",
  "GET /docs/swagger-ui-bundle.js",
  "GET /docs/swagger-ui.css",
  "GET /sign-in/pages.css",
  "GET /sign-in/sign-in.js",
];

/** Nobody answers there. */
const openid = {
  PRESAGE_OIDC_ISSUER: "http://127.0.0.1:9",
  PRESAGE_OIDC_CLIENT_ID: "presage-of-the-tests",
  PRESAGE_OIDC_CLIENT_SECRET: "client-secret-Hd6t4Ny7-0123456789",
  PRESAGE_OIDC_ALLOWED_DOMAINS: "*",
};

for (const [mode, environment] of Object.entries({ "local mode": {}, "OpenID mode": openid })) {
  test(`In ${mode} every served route is documented or in a short list, and open only where stated`, async () => {
    const presage = await startPresage(environment);
    const documented = await readDocumentedRoutes(presage);
    const answers = await askEveryRoute(presage);
    await presage.stop();
    const answering = (isWanted: (status: number) => boolean) =>
      [...answers].flatMap(([route, status]) => (isWanted(status) ? [route] : []));
    const closed = [...documented].flatMap(([route, { isOpen }]) => (isOpen ? [] : [route]));
    const open = [...documented].flatMap(([route, { isOpen }]) => (isOpen ? [route] : []));

    expect(answering((status) => status === 303).sort()).toEqual(pages);
    // Whoever comes without a token is refused as somebody without a session is.
    const isUnexpected = (route: string) => !closed.includes(route) && !waysIn.includes(route);
    expect(answering((status) => status === 401).filter(isUnexpected)).toEqual([]);
    const others = answering((status) => status !== 303 && status !== 401);
    const forAnybody = [...open, ...waysIn, ...files];
    expect(others.filter((route) => !forAnybody.includes(route))).toEqual([]);
    expect([...documented.keys()].filter((route) => !answers.has(route))).toEqual([]);
  });
}

onEachDatabase((database) => {
  let databaseUrl: string;
  let presage: TestPresage;
  /** Every operation of the document that is not for anybody, its parameters filled in. */
  let closed: Operation[];

  beforeAll(async () => {
    databaseUrl = await database.create();
    presage = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl });
    closed = [...(await readDocumentedRoutes(presage))].flatMap(([route, { isOpen }]) => {
      const [method = "", path = ""] = route.split(" ");
      return isOpen ? [] : [{ method, path: fillIn(path) }];
    });
    expect(closed.length).toBeGreaterThan(25);
  });
  afterAll(() => presage.stop());

  async function signIn(): Promise<TestSession> {
    await using store = await openStore(databaseUrl);
    const signInAddress = presage.url + (await createSignInPath(store));
    return await sessionOf(await signInLocally({ url: presage.url, signInAddress }), databaseUrl);
  }

  /** How each operation answers, without those that answer as they should. */
  async function othersThan(
    expected: number,
    operations: Operation[],
    headers: Record<string, string>,
  ): Promise<string[]> {
    const answers = await Promise.all(
      operations.map(async ({ method, path }) => {
        const body = method === "GET" ? undefined : {};
        const { status } = await presage.call(method, path, body, headers);
        return { status, told: `${method} ${path} ${status}` };
      }),
    );
    return answers.filter(({ status }) => status !== expected).map(({ told }) => told);
  }

  test("Without a key or a session every route responds 401", async () => {
    expect(await othersThan(401, closed, {})).toEqual([]);
  });

  test("With a cookie of no session every route responds 401", async () => {
    const { cookie } = await signIn();
    const name = cookie.split("=")[0] ?? "";
    for (const value of ["", "x", "x".repeat(43), "%00", "x".repeat(4_000)]) {
      expect(await othersThan(401, closed, { cookie: `${name}=${value}` })).toEqual([]);
    }
  });

  test("With an ended session every route responds 401, whatever its CSRF token", async () => {
    const { headers } = await signIn();
    await using store = await openStore(databaseUrl);
    for (const over of [{ expires_at: 1 }, { last_seen_at: 1 }, { ended_at: 1 }]) {
      const { headers: own } = await signIn();
      await store.database.updateTable("sessions").set(over).execute();
      expect(await othersThan(401, closed, own)).toEqual([]);
    }
    expect(await othersThan(401, closed, headers)).toEqual([]);
  });

  test("With a session but without a CSRF token every changing route responds 403", async () => {
    const { cookie } = await signIn();
    const changing = closed.filter(({ method }) => method !== "GET");
    expect(changing.length).toBeGreaterThan(12);
    expect(await othersThan(403, changing, { cookie })).toEqual([]);
    const another = (await signIn()).csrfToken;
    expect(await othersThan(403, changing, { cookie, "x-csrf-token": another })).toEqual([]);
  });

  test("With a session and its CSRF token no route responds 401 or 403", async () => {
    for (const operation of closed.filter(({ path }) => path !== "/auth/sign-out")) {
      const { headers } = await signIn();
      const [told = ""] = await othersThan(0, [operation], headers);
      expect(told).toMatch(/ (200|201|204|404|422)$/);
    }
  });
});
