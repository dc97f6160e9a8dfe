import { afterAll, beforeAll, expect, test } from "bun:test";
import { createSignInPath } from "../src/compose-sign-in.ts";
import { onEachDatabase } from "./support/databases.ts";
import { openStore } from "./support/open-store.ts";
import { startPresage, type TestPresage } from "./support/presage.ts";
import { sessionOf, signInLocally, type TestSession } from "./support/session.ts";

interface Operation {
  method: string;
  path: string;
}

onEachDatabase((database) => {
  let databaseUrl: string;
  let presage: TestPresage;
  /** Every operation of the document that is not for anybody, its parameters filled in. */
  let closed: Operation[];

  beforeAll(async () => {
    databaseUrl = await database.create();
    presage = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl });
    const document = (await (await fetch(`${presage.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { security?: unknown[]; responses: Record<string, unknown> }>>;
    };
    closed = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { security }]) => security?.length !== 0)
        .map(([method]) => ({
          method: method.toUpperCase(),
          path: path.replaceAll(/\{\w+\}/g, () => crypto.randomUUID()),
        })),
    );
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

  test("Without a key or a session every route answers 401", async () => {
    expect(await othersThan(401, closed, {})).toEqual([]);
  });

  test("With a cookie that is no session's every route answers 401", async () => {
    const { cookie } = await signIn();
    const name = cookie.split("=")[0] ?? "";
    for (const value of ["", "x", "x".repeat(43), "%00", "x".repeat(4_000)]) {
      expect(await othersThan(401, closed, { cookie: `${name}=${value}` })).toEqual([]);
    }
  });

  test("With a session that is over every route answers 401, whatever its page proves", async () => {
    const { headers } = await signIn();
    await using store = await openStore(databaseUrl);
    for (const over of [{ expires_at: 1 }, { last_seen_at: 1 }, { ended_at: 1 }]) {
      const { headers: own } = await signIn();
      await store.database.updateTable("sessions").set(over).execute();
      expect(await othersThan(401, closed, own)).toEqual([]);
    }
    expect(await othersThan(401, closed, headers)).toEqual([]);
  });

  test("With a session but without its page's proof every changing route answers 403", async () => {
    const { cookie } = await signIn();
    const changing = closed.filter(({ method }) => method !== "GET");
    expect(changing.length).toBeGreaterThan(12);
    expect(await othersThan(403, changing, { cookie })).toEqual([]);
    const another = (await signIn()).csrfToken;
    expect(await othersThan(403, changing, { cookie, "x-csrf-token": another })).toEqual([]);
  });

  test("With a session and its page's proof no route answers 401 or 403", async () => {
    for (const operation of closed.filter(({ path }) => path !== "/auth/sign-out")) {
      const { headers } = await signIn();
      const [told = ""] = await othersThan(0, [operation], headers);
      expect(told).toMatch(/ (200|201|204|404|422)$/);
    }
  });
});
