import { beforeAll, describe, expect, test } from "bun:test";
import { ApiKeyCreateResponse, ApiKeyListResponse, AuditEventListResponse } from "@presage/contract";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { makeKey, makeUser } from "../support/sign-in/make-user.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const uuid = expect.stringMatching(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  let strangersKey: string;
  const { create, list, find, revoke, use } = apiKeyClient(() => presage);
  const post = (body: unknown) => presage.call("POST", "/v1/api-keys", body);

  beforeAll(async () => {
    strangersKey = await keyOfAnotherAccount(presage.databaseUrl);
  });

  describe("Creating a key", () => {
    test("returns the key and only the contract's fields", async () => {
      const response = await post({ name: "training" });
      expect(response.status).toBe(201);
      const body = await response.json();
      const made = ApiKeyCreateResponse.parse(body);
      expect(body).toStrictEqual({
        id: uuid,
        user_id: uuid,
        name: "training",
        prefix: made.key.slice(0, 8),
        last_four: made.key.slice(-4),
        created_at: instant,
        expires_at: null,
        revoked_at: null,
        last_used_at: null,
        rate_limit_rpm: null,
        max_in_flight: null,
        capture: null,
        scopes: null,
        key: expect.stringMatching(/^psg_[0-9A-Za-z]{38}$/),
      });
      expect(Math.abs(Date.parse(made.created_at) - Date.now())).toBeLessThan(60_000);
    });

    test("makes it valid immediately, in either header", async () => {
      const { key } = await create("either header");
      const statuses = await Promise.all(
        [{ "x-api-key": key }, { authorization: `Bearer ${key}` }, { authorization: `bearer ${key}` }].map(
          async (headers) => (await presage.call("GET", "/v1/me", undefined, headers)).status,
        ),
      );
      expect(statuses).toEqual([200, 200, 200]);
    });

    test("never creates the same key twice, even for one name at the same time", async () => {
      const made = await Promise.all(Array.from({ length: 20 }, () => create("twins")));
      expect(new Set(made.map(({ key }) => key)).size).toBe(20);
      expect(new Set(made.map(({ id }) => id)).size).toBe(20);
    });

    test("accepts a name of 120 characters, of any size in bytes, and rejects 121 or none", async () => {
      expect((await create("🙂".repeat(120))).name).toBe("🙂".repeat(120));
      const tooLong = await issuesOf(await post({ name: "🙂".repeat(121) }));
      expect(locationsOf(tooLong)).toEqual([{ type: "string_too_long", loc: ["body", "name"] }]);
      const empty = await issuesOf(await post({ name: "" }));
      expect(locationsOf(empty)).toEqual([{ type: "string_too_short", loc: ["body", "name"] }]);
      const missing = await issuesOf(await post({}));
      expect(locationsOf(missing)).toEqual([{ type: "missing", loc: ["body", "name"] }]);
    });

    test("refuses a name close to one that restricts the key, or another word for it, and says what is meant", async () => {
      const meant: [string, string][] = [
        ["scope", "did you mean scopes?"],
        ["permissions", "did you mean scopes?"],
        ["permission", "did you mean scopes?"],
        ["role", "did you mean scopes?"],
        ["TTL", "did you mean expires_at?"],
        ["Roles", "did you mean scopes?"],
        ["expire_at", "did you mean expires_at?"],
        ["expiresAt", "did you mean expires_at?"],
        ["expires", "did you mean expires_at?"],
        ["expiration", "did you mean expires_at?"],
        ["TTL", "did you mean expires_at?"],
        ["rate_limit", "did you mean rate_limit_rpm?"],
        ["max_inflight", "did you mean max_in_flight?"],
        ["user_id", "a key acts as the user who creates it"],
        ["accountId", "a key acts as the user who creates it"],
      ];
      for (const [name, hint] of meant) {
        const response = await post({ name: "misspelt", [name]: ["read"] });
        expect([name, response.headers.get("x-presage-ignored")]).toEqual([name, null]);
        expect(await issuesOf(response)).toEqual([
          expect.objectContaining({
            type: "value_error",
            loc: ["body", name],
            msg: expect.stringContaining(hint),
          }),
        ]);
      }
      expect((await list()).some((key) => key.name === "misspelt")).toBe(false);
    });

    test("accepts any other name, and names it in a header", async () => {
      const response = await post({ name: "more", notes: 1, "größe\n": 2, ["x".repeat(500)]: 3 });
      expect(response.status).toBe(201);
      expect(response.headers.get("x-presage-ignored")).toBe(`notes, gr%C3%B6%C3%9Fe%0A, ${"x".repeat(100)}`);
      expect((await post({ name: "none" })).headers.has("x-presage-ignored")).toBe(false);
      const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`unknown ${index}`, 0]));
      const named = (await post({ name: "many", ...many })).headers.get("x-presage-ignored") ?? "";
      expect(named.split(", ")).toHaveLength(20);
    });

    test("stores only its digest", async () => {
      const { id, key } = await create("kept as a digest");
      await using store = await openStore(presage.databaseUrl);
      const rows = await store.database.selectFrom("api_keys").selectAll().execute();
      const row = rows.find((candidate) => candidate.id === id);
      expect(row?.digest).toBe(store.keyDigest(key));
      const settings = await store.database.selectFrom("settings").selectAll().execute();
      const everything = JSON.stringify([rows, settings]);
      // Only its ends are shown; no part of its random middle appears anywhere.
      expect(everything).toContain(key.slice(0, 8));
      for (const part of [key.slice(4, 12), key.slice(12, 20), key.slice(20, 28), key.slice(28, 36)])
        expect(everything).not.toContain(part);
      // A digest that anyone can compute would allow searching a stolen table for known keys.
      expect(row?.digest).not.toBe(new Bun.CryptoHasher("sha256").update(key).digest("base64"));
    });
  });

  describe("Listing keys", () => {
    test("shows the newest first, including revoked ones, and never a key or a digest", async () => {
      const [first, second, third] = [await create("first"), await create("second"), await create("third")];
      expect(await revoke(second.id)).toBe(204);
      const text = await (await presage.call("GET", "/v1/api-keys")).text();
      const { data } = JSON.parse(text);
      expect(data.slice(0, 3)).toStrictEqual(
        [third, second, first].map(({ key: _key, ...listed }) =>
          listed.id === second.id ? { ...listed, revoked_at: instant } : listed,
        ),
      );
      for (const { key } of [first, second, third]) expect(text).not.toContain(key.slice(8, -4));
      expect(Object.keys(data[0]).sort()).toEqual(
        "capture created_at expires_at id last_four last_used_at max_in_flight name prefix rate_limit_rpm revoked_at scopes user_id".split(
          " ",
        ),
      );
    });

    test("shows an owner the keys of all users of the account, others their own, and so does changing and revoking them", async () => {
      await using store = await openStore(presage.databaseUrl);
      const userIds = [await makeUser(store, "owner"), await makeUser(store, "member")];
      const [owner, member] = await Promise.all(userIds.map((id) => makeKey(store, id)));
      const call = (key: Record<string, string> | undefined, method: string, path: string, body?: object) =>
        presage.call(method, `/v1/api-keys${path}`, body, { ...key });
      const listed = async (key: Record<string, string> | undefined) =>
        ApiKeyListResponse.parse(await (await call(key, "GET", "")).json()).data;
      const theirs = await listed(member);
      expect(theirs.map(({ user_id }) => user_id)).toEqual(userIds.slice(1));
      const all = await listed(owner);
      expect(new Set(all.map(({ user_id }) => user_id))).toEqual(new Set([store.owner.id, ...userIds]));
      expect((await list()).map(({ id }) => id)).toEqual(all.map(({ id }) => id));

      const ofOwner = all.find(({ user_id }) => user_id === userIds[0])?.id;
      const ofMember = theirs[0]?.id;
      expect((await call(member, "DELETE", `/${ofOwner}`)).status).toBe(404);
      expect((await call(member, "PATCH", `/${ofOwner}`, { rate_limit_rpm: 5 })).status).toBe(404);
      expect((await call({ "x-api-key": strangersKey }, "DELETE", `/${ofMember}`)).status).toBe(404);
      const changed = await call(owner, "PATCH", `/${ofMember}`, { rate_limit_rpm: 5 });
      expect(await changed.json()).toMatchObject({ id: ofMember, user_id: userIds[1], rate_limit_rpm: 5 });
      expect(await use(member?.["x-api-key"] ?? "")).toBe(200);
      expect((await call(owner, "DELETE", `/${ofMember}`)).status).toBe(204);
      expect(await use(member?.["x-api-key"] ?? "")).toBe(401);
      const log = await presage.call("GET", `/v1/audit-events?object_id=${ofMember}`);
      const [revoked, updated] = AuditEventListResponse.parse(await log.json()).data;
      expect([revoked?.action, updated?.action]).toEqual(["api_key.revoke", "api_key.update"]);
      expect(revoked).toMatchObject({ actor: { user_id: userIds[0] }, detail: { user_id: userIds[1] } });

      // Two owners revoke each other's last keys: one comes first, and the other's key is then no longer valid.
      const [other, another] = await Promise.all(userIds.map((id) => makeKey(store, id)));
      await store.database.updateTable("users").set({ role: "owner" }).where("id", "in", userIds).execute();
      const idOf = async (user: string | undefined) =>
        (await list()).find(({ user_id, revoked_at }) => user_id === user && !revoked_at)?.id;
      const ids = [await idOf(userIds[0]), await idOf(userIds[1])];
      const both = [call(other, "DELETE", `/${ids[1]}`), call(another, "DELETE", `/${ids[0]}`)];
      expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([204, 401]);
    });

    test("does not show the keys of other accounts", async () => {
      const { id } = await create("not a stranger's");
      const theirs = await list(strangersKey);
      expect(theirs.map(({ name }) => name)).toEqual(["test"]);
      const ours = (await list()).map((apiKey) => apiKey.id);
      expect(ours).toContain(id);
      expect(ours).not.toContain(theirs[0]?.id ?? "");
    });
  });

  describe("A key's limits", () => {
    const limits = { rate_limit_rpm: 600, max_in_flight: 64 };
    const change = (id: string, body: unknown, key = testKey) =>
      presage.call("PATCH", `/v1/api-keys/${id}`, body, { "x-api-key": key });
    const created = async (body: object) => ApiKeyCreateResponse.parse(await (await post(body)).json());

    test("are given when it is created, and can be changed one by one", async () => {
      const { key, ...made } = await created({ name: "limited", ...limits });
      expect(made).toMatchObject(limits);
      expect(await find(made.id)).toEqual(made);
      const changed = await change(made.id.toUpperCase(), { rate_limit_rpm: null });
      expect([changed.status, await changed.json()]).toEqual([200, { ...made, rate_limit_rpm: null }]);
      const unchanged = await change(made.id, {});
      expect([unchanged.status, await unchanged.json()]).toEqual([200, { ...made, rate_limit_rpm: null }]);
      await change(made.id, { rate_limit_rpm: 1, max_in_flight: 1_000_000_000 });
      expect(await find(made.id)).toEqual({ ...made, rate_limit_rpm: 1, max_in_flight: 1_000_000_000 });
      expect(await use(key)).toBe(200);
    });

    test("are whole numbers from 1 to a billion", async () => {
      const { id } = await create("unchanged");
      for (const field of ["rate_limit_rpm", "max_in_flight"]) {
        for (const [wrong, type] of [
          [0, "greater_than_equal"],
          [-1, "greater_than_equal"],
          [1_000_000_001, "less_than_equal"],
          [1.5, "int_type"],
          ["many", "int_type"],
        ]) {
          const [onCreate] = await issuesOf(await post({ name: "wrong", [field]: wrong }));
          expect(onCreate).toMatchObject({ loc: ["body", field] });
          const [onChange] = await issuesOf(await change(id, { [field]: wrong }));
          expect(onChange).toMatchObject({ type, loc: ["body", field] });
        }
      }
      expect(await find(id)).toMatchObject({ rate_limit_rpm: null, max_in_flight: null });
    });

    test("include which of its predictions are kept", async () => {
      const { key: _, ...made } = await created({ name: "captured", capture: "failures" });
      expect(made.capture).toBe("failures");
      for (const capture of ["off", "all", "0", "1", "0.01", null]) {
        expect((await change(made.id, { capture })).status).toBe(200);
        expect(await find(made.id)).toEqual({ ...made, capture });
      }
      for (const wrong of ["some", "", "1.5", "-1", "50%"]) {
        const [issue] = await issuesOf(await change(made.id, { capture: wrong }));
        expect(issue).toMatchObject({
          type: "value_error",
          loc: ["body", "capture"],
          msg: expect.stringContaining("off, failures, all, or a share from 0 to 1"),
        });
      }
      const [issue] = await issuesOf(await change(made.id, { capture: 0.5 }));
      expect(issue).toMatchObject({ type: "string_type", loc: ["body", "capture"] });
    });

    test("can be changed only by their user", async () => {
      const { id } = await create("not theirs");
      expect((await change(id, limits, strangersKey)).status).toBe(404);
      expect((await change(crypto.randomUUID(), limits)).status).toBe(404);
      expect((await change("mine", limits)).status).toBe(422);
      expect(await find(id)).toMatchObject({ rate_limit_rpm: null, max_in_flight: null });
    });
  });

  describe("Revoking a key", () => {
    test("disables it immediately, even if in use", async () => {
      const { id, key } = await create("in use");
      await Promise.all(Array.from({ length: 20 }, () => use(key)));
      expect(await revoke(id)).toBe(204);
      expect(await Promise.all(Array.from({ length: 20 }, () => use(key)))).toEqual(Array(20).fill(401));
    });

    test("has no body, and is idempotent", async () => {
      const { id } = await create("revoked twice");
      const response = await presage.call("DELETE", `/v1/api-keys/${id}`);
      expect([response.status, await response.text()]).toEqual([204, ""]);
      const once = await find(id);
      expect(once?.revoked_at).toEqual(instant);
      await Bun.sleep(20);
      expect(await revoke(id.toUpperCase())).toBe(204);
      expect(await find(id)).toEqual(once);
    });

    test("may be done with the key itself", async () => {
      const { id, key } = await create("revokes itself");
      expect(await revoke(id, key)).toBe(204);
      expect(await revoke(id, key)).toBe(401);
    });

    test("is 404 for an unknown id and 422 for an invalid id", async () => {
      expect(await revoke(crypto.randomUUID())).toBe(404);
      const issues = await issuesOf(await presage.call("DELETE", "/v1/api-keys/mine"));
      expect(locationsOf(issues)).toEqual([{ type: "uuid_parsing", loc: ["path", "key_id"] }]);
    });

    test("is 404 for another user's key, and their key keeps working", async () => {
      const [theirs] = await list(strangersKey);
      expect(await revoke(theirs?.id ?? "")).toBe(404);
      expect(await use(strangersKey)).toBe(200);
      const { id, key } = await create("ours");
      expect(await revoke(id, strangersKey)).toBe(404);
      expect(await use(key)).toBe(200);
      expect((await find(id))?.revoked_at).toBeNull();
    });
  });

  describe("A key that expires", () => {
    test("is rejected if the expiry is in the past or not a date-time", async () => {
      const loc = ["body", "expires_at"];
      for (const past of [inMs(-1_000), "2020-01-01T00:00:00Z", "2020-01-01T00:00:00", "2020-01-01"])
        expect(locationsOf(await issuesOf(await post({ name: "late", expires_at: past })))).toEqual([
          { type: "datetime_future", loc },
        ]);
      for (const wrong of [
        "tomorrow",
        "2031-02-30T00:00:00Z",
        "2031-02-30",
        "1900000000",
        1_900_000_000,
        true,
      ])
        expect((await issuesOf(await post({ name: "wrong", expires_at: wrong })))[0]?.loc).toEqual(loc);
    });

    test("keeps the given instant, and null means no expiry", async () => {
      expect((await create("none", null)).expires_at).toBeNull();
      expect((await create("offset", "2031-05-01T12:00:00+02:00")).expires_at).toBe(
        "2031-05-01T10:00:00.000Z",
      );
      expect((await create("date", "2031-05-01")).expires_at).toBe("2031-05-01T00:00:00.000Z");
      expect((await create("python", "2031-05-01 12:00:00+02:00")).expires_at).toBe(
        "2031-05-01T10:00:00.000Z",
      );
      const far = await create("far", "9999-12-31T23:59:59Z");
      expect(far.expires_at).toBe("9999-12-31T23:59:59.000Z");
      expect((await find(far.id))?.expires_at).toBe("9999-12-31T23:59:59.000Z");
      expect(await use(far.key)).toBe(200);
    });

    test("is read as UTC without an offset, whatever the server's time zone", async () => {
      process.env.TZ = "Asia/Tokyo";
      try {
        expect(new Date("2031-05-01T12:00:00").toISOString()).toBe("2031-05-01T03:00:00.000Z");
        expect((await create("naive", "2031-05-01T12:00:00")).expires_at).toBe("2031-05-01T12:00:00.000Z");
        expect((await create("minutes", "2031-05-01T12:00")).expires_at).toBe("2031-05-01T12:00:00.000Z");
      } finally {
        process.env.TZ = "UTC";
      }
    });
  });
});
