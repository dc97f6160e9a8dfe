import { describe, expect, test } from "bun:test";
import type { SessionListResponse } from "@presage/contract";
import { createSignInPath } from "../../src/app/compose-accounts.ts";
import { toMicros } from "../../src/platform/storage/columns.ts";
import { freePort } from "../support/free-port.ts";
import { startPresage, type TestPresage } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { openBrowser } from "../support/sign-in/browser.ts";
import { sessionOf, signInLocally } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

const addressInText = /http:\/\/\S+\/sign-in#[\w-]{43}/g;
const tokenOf = (address: string | undefined) => new URL(address ?? "").hash.slice(1);

onAnyDatabase((database) => {
  const presage = usePresage({ database });

  async function newAddress(): Promise<string> {
    await using store = await openStore(presage.databaseUrl);
    return presage.url + (await createSignInPath(store));
  }

  const use = (token: unknown, headers: Record<string, string> = {}, query = "") =>
    presage.call("POST", `/auth/local${query}`, { token }, headers);

  describe("The printed address", () => {
    test("signs a browser in as the owner, once", async () => {
      const browser = await signInLocally(presage);
      const me = await browser.fetch(`${presage.url}/v1/me`);
      expect(await me.json()).toMatchObject({ oidc_issuer: "urn:presage:local", oidc_subject: "owner" });
      const again = await use(tokenOf(presage.signInAddress));
      expect([again.status, await again.json()]).toEqual([
        401,
        { detail: "This sign-in link was already used or is older than 12 hours." },
      ]);
      expect(again.headers.has("set-cookie")).toBe(false);
    });

    test("opened again in a signed-in browser just redirects", async () => {
      const address = await newAddress();
      const browser = await signInLocally({ ...presage, signInAddress: address });
      const { cookie } = await sessionOf(browser, presage.databaseUrl);
      const again = await use(tokenOf(address), { cookie });
      expect([again.status, again.headers.has("set-cookie")]).toEqual([200, false]);
    });

    test("signs in exactly one of many concurrent browsers, in two processes", async () => {
      await using other = await spawnPresage({ PRESAGE_DATABASE_URL: presage.databaseUrl });
      const token = tokenOf(await newAddress());
      const statuses = await Promise.all(
        Array.from({ length: 40 }, async (_, index) =>
          index % 2 === 0
            ? (await use(token)).status
            : (await other.call("POST", "/auth/local", { token }, {})).status,
        ),
      );
      expect(statuses.toSorted()).toEqual([200, ...Array(39).fill(401)]);
    }, 300_000);

    test("is rejected after 12 hours", async () => {
      const token = tokenOf(await newAddress());
      await using store = await openStore(presage.databaseUrl);
      const { expires_at, created_at } = await store.database
        .selectFrom("sign_in_tokens")
        .selectAll()
        .where("used_at", "is", null)
        .orderBy("created_at", "desc")
        .executeTakeFirstOrThrow();
      expect(expires_at - created_at).toBe(12 * 3_600_000_000);
      await store.database
        .updateTable("sign_in_tokens")
        .set({ expires_at: toMicros(new Date()) })
        .execute();
      expect((await use(token)).status).toBe(401);
    });

    test("is stored as a digest only", async () => {
      const token = tokenOf(await newAddress());
      await using store = await openStore(presage.databaseUrl);
      const rows = await store.database.selectFrom("sign_in_tokens").selectAll().execute();
      expect(rows.length).toBeGreaterThan(0);
      expect(JSON.stringify(rows)).not.toContain(token.slice(0, 12));
      expect(rows.map(({ digest }) => digest)).not.toContain(
        new Bun.CryptoHasher("sha256").update(token).digest("base64"),
      );
    });
  });

  test("anything that is not a token is rejected", async () => {
    for (const wrong of ["", "x".repeat(43), 7, null, undefined, ["a"], { a: 1 }]) {
      expect((await use(wrong)).status).toBe(401);
    }
    expect((await presage.call("POST", "/auth/local", "[]", {})).status).toBe(401);
    expect((await presage.call("POST", "/auth/local", "", {})).status).toBe(401);
    expect((await presage.call("POST", "/auth/local", "{", {})).status).toBe(422);
    expect((await use("x".repeat(2_000))).status).toBe(413);
    expect((await presage.call("GET", "/auth/local", undefined, {})).status).toBe(405);
  });

  test("pages of other sites cannot use a token", async () => {
    const token = tokenOf(await newAddress());
    for (const site of ["cross-site", "same-site"]) {
      expect((await use(token, { "sec-fetch-site": site })).status).toBe(403);
    }
    expect((await use(token, { "sec-fetch-site": "same-origin" })).status).toBe(200);
  });

  test("afterwards the browser continues to the requested page, if it is on this server", async () => {
    const goesOn: [returnTo: string, to: string][] = [
      ["/usage?day=1&key=a b#x", "/usage?day=1&key=a%20b#x"],
      ["https://evil.example/", "/"],
      ["//evil.example", "/"],
      ["/\\evil.example", "/"],
      ["/\t/evil.example", "/"],
      ["javascript:alert(1)", "/"],
      ["", "/"],
    ];
    for (const [returnTo, to] of goesOn) {
      const query = `?return_to=${encodeURIComponent(returnTo)}`;
      const answer = await use(tokenOf(await newAddress()), {}, query);
      expect([returnTo, await answer.json()]).toEqual([returnTo, { redirect_to: to }]);
    }
  });

  test("signing in again in a browser ends its previous session", async () => {
    const browser = await signInLocally({ ...presage, signInAddress: await newAddress() });
    const earlier = openBrowser(new Map(browser.cookies));
    await using store = await openStore(presage.databaseUrl);
    const { data } = (await (
      await earlier.fetch(`${presage.url}/v1/sessions`)
    ).json()) as SessionListResponse;
    const id = data.find(({ is_current }) => is_current)?.id ?? "";
    const body = JSON.stringify({ token: tokenOf(await newAddress()) });
    expect((await browser.fetch(`${presage.url}/auth/local`, { method: "POST", body })).status).toBe(200);
    expect((await earlier.fetch(`${presage.url}/v1/me`)).status).toBe(401);
    expect((await browser.fetch(`${presage.url}/v1/me`)).status).toBe(200);
    const { account_id, id: userId } = store.owner;
    const events = store.database.selectFrom("audit_events").select(["account_id", "actor_user_id"]);
    expect(await events.where("action", "=", "session.end").where("object_id", "=", id).execute()).toEqual([
      { account_id, actor_user_id: userId },
    ]);
  });

  test("each start prints an address outside the log", async () => {
    const seen: string[] = [];
    for (let start = 0; start < 2; start++) {
      await using server = await spawnPresage({ PRESAGE_DATABASE_URL: presage.databaseUrl });
      const [address = "", ...others] = (await server.stderr()).match(addressInText) ?? [];
      expect(others).toEqual([]);
      expect(address).toStartWith(`${server.url}/sign-in#`);
      const answer = await server.call("POST", "/auth/local", { token: tokenOf(address) }, {});
      expect(answer.status).toBe(200);
      server.kill("SIGTERM");
      await server.exited;
      expect(await server.stdout()).not.toContain(tokenOf(address));
      seen.push(address);
    }
    expect(new Set(seen).size).toBe(2);
  }, 300_000);

  describe("The command", () => {
    test("explains why it cannot print an address", async () => {
      const openid = await runPresage(["sign-in"], {
        PRESAGE_DATABASE_URL: presage.databaseUrl,
        PRESAGE_OIDC_ISSUER: "https://login.example",
        PRESAGE_OIDC_CLIENT_ID: "presage",
        PRESAGE_OIDC_CLIENT_SECRET: "a-secret",
        PRESAGE_OIDC_ALLOWED_DOMAINS: "*",
      });
      expect([openid.code, openid.stdout]).toEqual([1, ""]);
      expect(openid.stderr).toStartWith("Users sign in at https://login.example");
      const unused = { PRESAGE_DATABASE_URL: await database.create() };
      await runPresage(["migrate"], unused);
      const port = await runPresage(["sign-in"], { ...unused, PRESAGE_PORT: "0" });
      expect([port.code, port.stdout]).toEqual([1, ""]);
      expect(port.stderr).toContain("PRESAGE_PUBLIC_URL");
    });

    const onceWithin12Hours = "The link works once, within 12 hours.\n";
    const print = async (environment: Record<string, string>) => {
      const ran = await runPresage(["sign-in"], environment);
      expect(ran.code).toBe(0);
      expect(ran.stderr).toStartWith(onceWithin12Hours);
      return { address: ran.stdout.trim(), notice: ran.stderr.slice(onceWithin12Hours.length) };
    };

    test("prints an address that signs in at the running server, whichever port is configured", async () => {
      const { address, notice } = await print({
        PRESAGE_DATABASE_URL: presage.databaseUrl,
        PRESAGE_PORT: String(await freePort()),
      });
      expect(notice).toBe("");
      expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sign-in#[\w-]{43}$/);
      expect(address).toStartWith(`${presage.url}/`);
      expect((await use(tokenOf(address))).status).toBe(200);
    });

    test("finds the server that runs beside one that crashed", async () => {
      await using crashing = await spawnPresage({ PRESAGE_DATABASE_URL: presage.databaseUrl });
      const before = await print({ PRESAGE_DATABASE_URL: presage.databaseUrl });
      expect(before.address).toStartWith(`${crashing.url}/`);
      crashing.kill("SIGKILL");
      await crashing.exited;
      const after = await print({ PRESAGE_DATABASE_URL: presage.databaseUrl });
      expect(after).toEqual({ address: expect.stringContaining(`${presage.url}/`), notice: "" });
    }, 300_000);

    // What the command says about other servers comes from the same rows on both databases.
    if (database.name === "PostgreSQL") return;

    test("prints an address below a configured public URL", async () => {
      const { address } = await print({
        PRESAGE_DATABASE_URL: presage.databaseUrl,
        PRESAGE_PUBLIC_URL: "https://presage.example/",
      });
      expect(address).toMatch(/^https:\/\/presage\.example\/sign-in#[\w-]{43}$/);
      expect((await use(tokenOf(address))).status).toBe(200);
    });

    test("prints no address that a server on another database has taken over", async () => {
      const PRESAGE_DATABASE_URL = await database.create();
      await using crashing = await spawnPresage({ PRESAGE_DATABASE_URL });
      crashing.kill("SIGKILL");
      await crashing.exited;
      const PRESAGE_PORT = new URL(crashing.url).port;
      const other = await startPresage({ PRESAGE_PORT });
      for (const address of [{}, { PRESAGE_PORT }, { PRESAGE_PUBLIC_URL: other.url }]) {
        const ran = await runPresage(["sign-in"], { PRESAGE_DATABASE_URL, ...address });
        expect(ran).toEqual({
          code: 1,
          stdout: "",
          stderr: `The server that answers at ${other.url} is not on this database, so no sign-in URL was made. Start one on this database first.\n`,
        });
      }
      await other.stop();
    }, 300_000);

    test("finds the server that is left of two at one address, whichever stops first", async () => {
      for (const stopsFirst of [0, 1]) {
        const PRESAGE_DATABASE_URL = await database.create();
        // Both are behind one address: that of the server that stays.
        const PRESAGE_PORT = String(await freePort());
        const PRESAGE_PUBLIC_URL = `http://127.0.0.1:${PRESAGE_PORT}`;
        const ports = stopsFirst === 0 ? ["0", PRESAGE_PORT] : [PRESAGE_PORT, "0"];
        const servers: TestPresage[] = [];
        for (const port of ports) {
          servers.push(await startPresage({ PRESAGE_DATABASE_URL, PRESAGE_PUBLIC_URL, PRESAGE_PORT: port }));
        }
        await servers[stopsFirst]?.stop();
        expect(await print({ PRESAGE_DATABASE_URL })).toEqual({
          address: expect.stringContaining(`${PRESAGE_PUBLIC_URL}/sign-in#`),
          notice: "",
        });
        await servers[1 - stopsFirst]?.stop();
      }
    }, 300_000);

    test("says when no server answers: none was started, or it has stopped or crashed", async () => {
      const url = await database.create();
      const port = String(await freePort());
      await runPresage(["migrate"], { PRESAGE_DATABASE_URL: url });
      const everywhere = { PRESAGE_DATABASE_URL: url, PRESAGE_HOST: "0.0.0.0", PRESAGE_PORT: port };
      const none = "No server is running on this database. Start it first.\n";
      expect(await print(everywhere)).toEqual({
        address: expect.stringContaining(`http://localhost:${port}/sign-in#`),
        notice: none,
      });
      for (const signal of ["SIGTERM", "SIGKILL"] as const) {
        await using server = await spawnPresage({ PRESAGE_DATABASE_URL: url });
        expect((await print(everywhere)).address).toStartWith(`${server.url}/`);
        server.kill(signal);
        await server.exited;
        const crashed = `The server on this database does not answer at ${server.url}. Start it first.\n`;
        const notice = signal === "SIGTERM" ? none : crashed;
        expect((await print(everywhere)).notice).toBe(notice);
      }
    }, 300_000);
  });

  test("with an https public URL, the cookie is for https only", async () => {
    const secure = await startPresage({
      PRESAGE_DATABASE_URL: presage.databaseUrl,
      PRESAGE_PUBLIC_URL: "https://presage.example",
    });
    const token = tokenOf(secure.signInAddress);
    const answer = await secure.call("POST", "/auth/local", { token }, {});
    expect(answer.headers.get("set-cookie")).toMatch(
      /^__Host-presage_session_\w{8}=[\w-]{43}; Path=\/; Max-Age=604800; Secure; HttpOnly; SameSite=Lax$/,
    );
    await secure.stop();
  });
});

test("the page says what to do, and loads nothing from other origins", async () => {
  const presage = await startPresage({});
  const answer = await fetch(`${presage.url}/sign-in`);
  const html = await answer.text();
  expect(html).toContain("npx presage sign-in");
  expect(answer.headers.get("content-security-policy")).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  expect(answer.headers.get("content-security-policy")).not.toContain("unsafe");
  expect(answer.headers.get("referrer-policy")).toBe("same-origin");
  expect(html).not.toMatch(/<style|<script>| style=| on\w+=/);
  const parts = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "");
  for (const part of parts.filter((path) => !path.startsWith("data:"))) {
    const { status, headers } = await fetch(presage.url + part);
    expect([part, status, headers.get("content-type")]).toEqual([
      part,
      200,
      expect.stringMatching(/^text\/(javascript|css); charset=utf-8$/),
    ]);
  }
  await presage.stop();
});
