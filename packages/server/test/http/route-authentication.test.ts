import { beforeAll, expect, test } from "bun:test";
import { createSignInPath } from "../../src/app/compose-accounts.ts";
import { askEveryRoute, fillIn } from "../support/presage/ask-every-route.ts";
import { startPresage, type TestPresage } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { sessionOf, signInLocally, type TestSession } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

interface Operation {
  method: string;
  path: string;
  /** Whether a signed-in user may call the route without a key. */
  takesSessions: boolean;
}

/** Undocumented, for signed-in users. */
const pages = [
  "GET /",
  "GET /account",
  "GET /account/audit-log",
  "GET /account/members",
  "GET /api-keys",
  "GET /compare",
  "GET /datasets",
  "GET /datasets/:dataset_id",
  "GET /datasets/:dataset_id/trajectories/:trajectory_id",
  "GET /deployments",
  "GET /environments",
  "GET /environments/:name",
  "GET /environments/:name/play",
  "GET /episodes/:episode_id",
  "GET /error-taxonomies",
  "GET /error-taxonomies/:taxonomy_id",
  "GET /evaluations",
  "GET /evaluators",
  "GET /evaluators/profiles/:public_id",
  "GET /log",
  "GET /playground",
  "GET /predictions",
  "GET /review",
  "GET /runs",
  "GET /runs/:run_id",
  "GET /runs/:run_id/trajectories/:trajectory_id",
  "GET /runs/new",
  "GET /usage",
  "GET /worlds",
  "GET /worlds/:name",
];
/** Undocumented and public: the sign-in routes and the pages' files. */
const waysIn = [
  "GET /sign-in",
  "POST /auth/local",
  "GET /auth/sign-in",
  "GET /auth/callback",
  // Anyone who has the address may see the page.
  "GET /share/:token",
];
/** OpenAPI describes the socket only in words. It needs a key. */
const sockets = ["GET /v1/environments/:name/openenv/ws"];
const files = [
  "GET /assets/:name",
  "GET /docs/",
  "GET /docs/:operation",
  "GET /docs/guides/:guide",
  "GET /sign-in/pages.css",
  "GET /sign-in/sign-in.js",
];

/** Routes of another protocol, which has its own documents. They need a key. */
const ofEnvironment = [
  "GET tools",
  "GET task_tools",
  "GET splits",
  "GET prompt",
  "POST tasks",
  "POST num_tasks",
  "POST task",
  "POST task_range",
  "POST call",
];
const ors = [
  ...ofEnvironment.map((route) => route.replace(" ", " /:env/")),
  ...ofEnvironment.map((route) => route.replace(" ", " /")),
  "GET /list_environments",
  "POST /create_session",
  "POST /create",
  "POST /ping",
  "POST /delete",
  "POST /delete_session",
];

/** Every documented route, and whether it is public. */
async function readDocumentedRoutes({
  url,
}: Pick<TestPresage, "url">): Promise<Map<string, { isOpen: boolean; takesSessions: boolean }>> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { security?: object[] }>>;
  };
  return new Map(
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(
        ([method, { security }]): [string, { isOpen: boolean; takesSessions: boolean }] => [
          `${method.toUpperCase()} ${toRoutePath(path)}`,
          {
            isOpen: security?.length === 0,
            takesSessions: security === undefined || security.some((scheme) => "session" in scheme),
          },
        ],
      ),
    ),
  );
}

/** A documented path as the server's router has it. A model's id may contain slashes. */
function toRoutePath(path: string): string {
  return path.replace("/models/{id}", "/models/*").replaceAll(/\{(\w+)\}/g, ":$1");
}

/** No provider listens at this address. */
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
    // Without a token the response is the same as without a session.
    const withKey = [...closed, ...ors, ...sockets];
    const isUnexpected = (route: string) => !withKey.includes(route) && !waysIn.includes(route);
    expect(answering((status) => status === 401).filter(isUnexpected)).toEqual([]);
    expect(ors.filter((route) => answers.get(route) !== 401)).toEqual([]);
    const others = answering((status) => status !== 303 && status !== 401);
    const forAnybody = [...open, ...waysIn, ...files];
    expect(others.filter((route) => !forAnybody.includes(route))).toEqual([]);
    expect([...documented.keys()].filter((route) => !answers.has(route))).toEqual([]);
  });
}

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  /** Every documented operation that is not public, with its parameters filled in. */
  let closed: Operation[];

  beforeAll(async () => {
    closed = [...(await readDocumentedRoutes(presage))].flatMap(([route, { isOpen, takesSessions }]) => {
      const [method = "", path = ""] = route.split(" ");
      return isOpen ? [] : [{ method, path: fillIn(path), takesSessions }];
    });
    expect(closed.length).toBeGreaterThan(25);
  });

  async function signIn(): Promise<TestSession> {
    await using store = await openStore(presage.databaseUrl);
    const signInAddress = presage.url + (await createSignInPath(store));
    return await sessionOf(await signInLocally({ url: presage.url, signInAddress }), presage.databaseUrl);
  }

  /** The status of each operation that does not respond as expected. */
  async function othersThan(
    expected: number,
    operations: Operation[],
    headers: Record<string, string>,
  ): Promise<string[]> {
    const answers = await Promise.all(
      operations.map(async ({ method, path }) => {
        const body = method === "GET" ? undefined : {};
        const { status } = await presage.call(method, path, body, headers);
        return { status, line: `${method} ${path} ${status}` };
      }),
    );
    return answers.filter(({ status }) => status !== expected).map(({ line }) => line);
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
    await using store = await openStore(presage.databaseUrl);
    for (const over of [{ expires_at: 1 }, { last_seen_at: 1 }, { ended_at: 1 }]) {
      const { headers: own } = await signIn();
      await store.database.updateTable("sessions").set(over).execute();
      expect(await othersThan(401, closed, own)).toEqual([]);
    }
    expect(await othersThan(401, closed, headers)).toEqual([]);
  });

  test("With a session but without a CSRF token every changing route responds 403", async () => {
    const { cookie } = await signIn();
    const changing = closed.filter(({ method, takesSessions }) => method !== "GET" && takesSessions);
    expect(changing.length).toBeGreaterThan(12);
    expect(await othersThan(403, changing, { cookie })).toEqual([]);
    const another = (await signIn()).csrfToken;
    expect(await othersThan(403, changing, { cookie, "x-csrf-token": another })).toEqual([]);
  });

  test("With a session every route that takes only keys responds 401", async () => {
    const { headers } = await signIn();
    const forKeys = closed.filter(({ takesSessions }) => !takesSessions);
    expect(forKeys.length).toBeGreaterThan(4);
    expect(await othersThan(401, forKeys, headers)).toEqual([]);
  });

  test("With a session and its CSRF token no other route responds 401 or 403", async () => {
    let session = await signIn();
    const isWanted = ({ path, takesSessions }: Operation) => takesSessions && path !== "/auth/sign-out";
    for (const operation of closed.filter(isWanted)) {
      let [line = ""] = await othersThan(0, [operation], session.headers);
      // An operation before this one may have ended the session.
      if (line.endsWith(" 401")) {
        session = await signIn();
        [line = ""] = await othersThan(0, [operation], session.headers);
      }
      expect(line).toMatch(/ (200|201|204|404|422)$/);
    }
  });
});
