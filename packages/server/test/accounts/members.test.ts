import { beforeAll, expect, test } from "bun:test";
import type { AuditEventListResponse, KeyScope, Member, Role } from "@presage/contract";
import { provisionUser } from "../../src/accounts/sign-in-route.ts";
import { changeRoleOf } from "../../src/accounts/users.ts";
import { localIssuer, upsertUserWithAccount } from "../../src/accounts/users-store.ts";
import { openEnvSocket } from "../support/openenv/openenv-socket.ts";
import { callWithKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { makeKey, makeUser, signInAddressOf } from "../support/sign-in/make-user.ts";
import { sessionOf, signInLocally } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { anyRequester } from "../support/store/requester.ts";

type Headers = Record<string, string>;

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  let store: Awaited<ReturnType<typeof openStore>>;

  beforeAll(async () => {
    store = await openStore(presage.databaseUrl);
    return async () => await store.database.destroy();
  });

  const call = (headers: Headers, method: string, path: string, body?: unknown) =>
    callWithKey(presage.url, method, path, body, headers);
  const statusOf = async (...request: Parameters<typeof call>) => (await call(...request)).status;
  const setRole = (userId: string, role: Role, headers?: Headers) =>
    headers === undefined
      ? presage.call("PATCH", `/v1/members/${userId}`, { role })
      : call(headers, "PATCH", `/v1/members/${userId}`, { role });

  async function sessionFor(userId: string): Promise<Headers> {
    const signInAddress = await signInAddressOf(store, presage.url, userId);
    const browser = await signInLocally({ url: presage.url, signInAddress });
    return (await sessionOf(browser, presage.databaseUrl)).headers;
  }

  async function create(headers: Headers, scopes?: KeyScope[] | null) {
    const response = await call(headers, "POST", "/v1/api-keys", { name: "new", scopes });
    const body = (await response.json()) as { key: string; scopes: KeyScope[] | null; detail: string };
    return { status: response.status, ...body };
  }

  test("A lower role holds at the next request, for sessions, keys and open sockets", async () => {
    const userId = await makeUser(store, "member");
    const [key, session] = [await makeKey(store, userId), await sessionFor(userId)];
    const socket = await openEnvSocket(presage.url, "sandbox", key);
    await socket.reset();
    for (const headers of [key, session])
      expect(await statusOf(headers, "POST", "/v1/projects", { name: "made" })).toBeLessThan(300);
    const changed = await setRole(userId, "viewer");
    expect([changed.status, ((await changed.json()) as Member).role]).toEqual([200, "viewer"]);
    for (const headers of [key, session]) {
      const refused = await call(headers, "POST", "/v1/projects", { name: "made" });
      expect(refused.status).toBe(403);
      expect(await refused.json()).toEqual({
        detail:
          "Your role is viewer; this request needs the role member or owner. An owner of your account can change your role.",
      });
      expect(await statusOf(headers, "GET", "/v1/projects")).toBe(200);
    }
    expect(await socket.step("look around")).toMatchObject({ type: "error" });
    expect(await socket.closed).toMatchObject({ code: 1008 });
    await setRole(userId, "member");
    expect(await statusOf(key, "POST", "/v1/projects", { name: "made" })).toBe(200);
  });

  test("A key is created with scopes in their order, and never with more than its creator has", async () => {
    const owner = await makeUser(store, "owner");
    const [all, manages] = [await makeKey(store, owner), await makeKey(store, owner, ["read", "manage"])];
    expect(await create(all, ["read", "predict", "read"])).toMatchObject({
      status: 201,
      scopes: ["predict", "read"],
    });
    expect(await create(manages, ["manage"])).toMatchObject({ status: 201, scopes: ["manage"] });
    for (const scopes of [undefined, null, ["predict"], ["read", "evaluate"]] as const) {
      const { status, detail } = await create(manages, scopes as KeyScope[] | null);
      expect([status, detail]).toEqual([403, expect.stringContaining(`scopes "read", "manage"`)]);
    }
    const viewer = await makeKey(store, await makeUser(store, "viewer"));
    expect(await create(viewer, ["read", "manage"])).toMatchObject({ status: 201 });
    expect(await create(viewer)).toMatchObject({ status: 201, scopes: null });
    expect(await create(viewer, ["read", "predict"])).toMatchObject({
      status: 403,
      detail: 'Your role is viewer, so your keys cannot have the scope "predict".',
    });
    for (const scopes of [[], ["write"], "read"])
      expect(await statusOf(all, "POST", "/v1/api-keys", { name: "x", scopes })).toBe(422);
  });

  test("A key that expires creates none that is good for longer", async () => {
    const owner = await makeKey(store, await makeUser(store, "owner"));
    const newKey = async (headers: Headers, expires_at?: string) => {
      const response = await call(headers, "POST", "/v1/api-keys", { name: "k", expires_at });
      const body = (await response.json()) as { key: string; detail: string };
      return { status: response.status, ...body };
    };
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const soon = inDays(1);
    const key = { "x-api-key": (await newKey(owner, soon)).key };
    expect(await newKey(key, soon)).toMatchObject({ status: 201 });
    for (const later of [undefined, inDays(2)])
      expect(await newKey(key, later)).toMatchObject({
        status: 403,
        detail: expect.stringContaining(`expires at ${soon}`),
      });
  });

  test("whoami says the role now and the scopes", async () => {
    const userId = await makeUser(store, "member");
    const key = await makeKey(store, userId, ["predict"]);
    const whoAmI = async () => await (await call(key, "GET", "/v1/whoami")).json();
    expect(await whoAmI()).toMatchObject({ caller: { api_key: { role: "member", scopes: ["predict"] } } });
    await setRole(userId, "viewer");
    expect(await whoAmI()).toMatchObject({ caller: { api_key: { role: "viewer", scopes: ["predict"] } } });
    expect(await (await call(await sessionFor(userId), "GET", "/v1/me")).json()).toMatchObject({
      role: "viewer",
    });
  });

  test("An account keeps an owner, even if its last two demote each other at the same time", async () => {
    for (const { id, role } of await members()) {
      if (role === "owner" && id !== store.owner.id) await setRole(id, "member");
    }
    const last = await setRole(store.owner.id, "member");
    expect(last.status).toBe(409);
    expect(await last.json()).toMatchObject({
      detail: expect.stringContaining("Make someone else an owner first"),
    });
    const other = await makeUser(store, "owner");
    const key = await makeKey(store, other);
    const statuses = await Promise.all([
      setRole(other, "viewer"),
      setRole(store.owner.id, "viewer", key),
    ]).then((responses) => responses.map(({ status }) => status).sort());
    // By then the other user is the last owner, or the caller is no longer one.
    expect(statuses[0]).toBe(200);
    expect([403, 409]).toContain(statuses[1] ?? 0);
    const left = await store.database.selectFrom("users").select("id").where("role", "=", "owner").execute();
    expect(left.filter(({ id }) => [store.owner.id, other].includes(id))).toHaveLength(1);
    // This is the way back in, on the server's machine.
    const change = { userId: store.owner.id, role: "owner", issuer: localIssuer } as const;
    await changeRoleOf(store.database, anyRequester(store.owner.account_id), change);
  });

  async function members(): Promise<Member[]> {
    // The command line's change reaches keys that this server knows within 5 s; a session is looked up each time.
    const headers = await sessionFor(store.owner.id);
    return ((await (await call(headers, "GET", "/v1/members?limit=1000")).json()) as { data: Member[] }).data;
  }

  test("Members are those of the account, and each change of a role is in the audit log once", async () => {
    const userId = await makeUser(store, "viewer", "ada@example.org");
    expect((await members())[0]).toEqual({
      id: userId,
      email: "ada@example.org",
      name: "viewer",
      role: "viewer",
      created_at: expect.any(String),
      last_seen_at: null,
      active_keys: 0,
    });
    const session = await sessionFor(store.owner.id);
    const owner = (await members()).find(({ id }) => id === store.owner.id);
    expect(owner?.last_seen_at).toBeString();
    expect(owner?.active_keys).toBeGreaterThan(0);
    for (const role of ["member", "member", "owner"] as const) await setRole(userId, role, session);
    const path = `/v1/audit-events?object_id=${userId}`;
    const { data } = (await (await call(session, "GET", path)).json()) as AuditEventListResponse;
    expect(data).toMatchObject([
      { action: "user.change_role", detail: { from: "member", to: "owner" } },
      { action: "user.change_role", detail: { from: "viewer", to: "member" } },
    ]);
    expect((await setRole(crypto.randomUUID(), "owner", session)).status).toBe(404);
  });

  test("The first who signs in to an account owns it, others get the configured role, and moving takes none along", async () => {
    const signIn = async (
      subject: string,
      accountName: string,
      issuer = "https://issuer.example",
      configured = issuer,
    ) => {
      const identity = { issuer, subject, email: null, name: null, accountName };
      const admittance = { newUserRole: "viewer", issuer: configured, requestId: "r" } as const;
      const { userId } = await provisionUser(store.database, identity, admittance);
      return await store.database
        .selectFrom("users")
        .select("role")
        .where("id", "=", userId)
        .executeTakeFirstOrThrow();
    };
    const together = await Promise.all(["a", "b", "c"].map((subject) => signIn(subject, "team")));
    expect(together.map(({ role }) => role).sort()).toEqual(["owner", "viewer", "viewer"]);
    expect((await signIn("d", "other team")).role).toBe("owner");
    expect((await signIn("d", "other team")).role).toBe("owner");
    expect((await signIn("d", "team")).role).toBe("viewer");
    // Nobody can sign in at the former provider.
    const elsewhere = ["e", "f"].map((subject) => [subject, "team", "https://other.example"] as const);
    const roles: string[] = [];
    for (const one of elsewhere) roles.push((await signIn(...one)).role);
    expect(roles).toEqual(["owner", "viewer"]);
    // Of a provider with several tenants, only the first person of all tenants owns the account.
    const entra = (tenant: string) => `https://login.microsoftonline.com/${tenant}/v2.0`;
    const tenants: string[] = [];
    for (const tenant of ["t1", "t2"])
      tenants.push((await signIn(tenant, "team", entra(tenant), entra("organizations"))).role);
    expect(tenants).toEqual(["owner", "viewer"]);
    const moves = await store.database
      .selectFrom("audit_events")
      .innerJoin("accounts", "accounts.id", "account_id")
      .select(["accounts.name", "detail"])
      .where("action", "=", "user.change_account")
      .orderBy("accounts.name")
      .execute();
    expect(moves).toEqual([
      { name: "other team", detail: '{"left":true}' },
      { name: "team", detail: '{"role":"viewer"}' },
    ]);
  });

  test("Whoever moves to another account takes the budgets of their keys along", async () => {
    const moving = await makeUser(store, "member");
    await makeKey(store, moving);
    const { database } = store;
    const [row] = await database.selectFrom("api_keys").select("id").where("user_id", "=", moving).execute();
    const user = await database
      .selectFrom("users")
      .selectAll()
      .where("id", "=", moving)
      .executeTakeFirstOrThrow();
    const budget = { account_id: user.account_id, api_key_id: row?.id ?? "", warned_month: 0 };
    await database
      .insertInto("budgets")
      .values({ ...budget, limit_micros: 1, stops: 1 })
      .execute();
    const { accountId } = await database
      .transaction()
      .execute((transaction) =>
        upsertUserWithAccount(
          transaction,
          { ...user, account_id: Bun.randomUUIDv7() },
          { accountName: "their next team", newUserRole: "member", issuer: user.oidc_issuer },
        ),
      );
    const budgets = await database.selectFrom("budgets").select(["account_id", "api_key_id"]).execute();
    expect(budgets).toEqual([{ account_id: accountId, api_key_id: row?.id ?? "" }]);
  });

  test("Whoever has moved to another account changes no role in the one that they left", async () => {
    const [moving, member] = [await makeUser(store, "owner"), await makeUser(store, "member")];
    const key = await makeKey(store, moving);
    // The server now remembers the key for some seconds.
    expect(await statusOf(key, "GET", "/v1/members")).toBe(200);
    const other = { id: Bun.randomUUIDv7(), name: "theirs", created_at: 1 };
    await store.database.insertInto("accounts").values(other).execute();
    await store.database
      .updateTable("users")
      .set({ account_id: other.id })
      .where("id", "=", moving)
      .execute();
    expect([403, 404]).toContain((await setRole(member, "viewer", key)).status);
  });
});
