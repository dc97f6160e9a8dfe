import { beforeAll, expect, test } from "bun:test";
import { RealityCheck, ShareCreateResponse, ShareListResponse } from "@presage/contract";
import { endUser, getUser } from "../../src/accounts/users.ts";
import { upsertUserWithAccount } from "../../src/accounts/users-store.ts";
import { generateSecret } from "../../src/accounts/verify-api-key.ts";
import { deleteWhatIsOld, takeDeletionStep } from "../../src/app/deletions.ts";
import { nowMicros } from "../../src/platform/storage/columns.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { makeKey, makeUser } from "../support/sign-in/make-user.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { type StoredRun, type StoredSample, storeRevision, storeRun } from "../support/store/store-run.ts";

const samples: StoredSample[] = ["a", "b", "c"].flatMap((trajectory) =>
  [0, 1].map((step) => ({
    trajectory: `${trajectory}-of-a-customer`,
    step,
    changes: step,
    verb: "verb-of-a-text",
  })),
);
const judged = (pass: boolean) => [{ verdicts: [{ pass, score: pass ? 1 : 0 }] }];

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  let runs: string[] = [];

  beforeAll(async () => {
    await using store = await openStore(presage.databaseUrl);
    const { account_id } = store.owner;
    const revision = await storeRevision(store.database, account_id, samples);
    const run = (name: string, passes: number[]): StoredRun => ({
      name,
      params: { stop: [`${name} of-a-customer`] },
      predictions: passes.map((pass) => judged(pass === 1)),
    });
    runs = [
      await storeRun(store.database, account_id, revision, run("before <b>", [1, 1, 0, 1, 0, 1])),
      await storeRun(store.database, account_id, revision, run("after", [1, 0, 0, 1, 0, 1])),
      await storeRun(store.database, account_id, revision, run("gone", [1, 0, 0, 1, 0, 1])),
    ];
  });

  async function share(body: object, headers?: Record<string, string>): Promise<ShareCreateResponse> {
    const response = await presage.call("POST", "/v1/shares", body, headers);
    const text = await response.text();
    expect([response.status, text]).toEqual([201, expect.any(String)]);
    return ShareCreateResponse.parse(JSON.parse(text));
  }
  const ofRun = (more: object = {}) => ({ kind: "run", ids: [runs[0]], ...more });
  const open = ({ path }: { path: string }) => fetch(presage.url + path);
  const statusOf = async (link: { path: string }) => (await open(link)).status;
  const listed = async (query = "") =>
    ShareListResponse.parse(await (await presage.call("GET", `/v1/shares${query}`)).json()).data;

  test("Whoever has the link sees the figures, and nothing that is not theirs to keep or follow", async () => {
    const link = await share(ofRun());
    const response = await open(link);
    const html = await response.text();
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "referrer-policy": "no-referrer",
      "x-robots-tag": "noindex, nofollow, noarchive",
      "cache-control": "no-store",
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; sandbox; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    });
    expect(html).toContain("<h1>Run before &lt;b&gt;</h1>");
    expect(html).toMatch(
      /<b>Presage<\/b>( The run ended on [\d-]+\.)? Shared by Owner on 20\d\d-\d\d-\d\d\. This link works until 20/,
    );
    expect(html).toContain('<meta name="robots" content="noindex, nofollow, noarchive">');
    expect(html).toContain("<svg");
    expect(html).not.toMatch(/<script|<link|<img|src=|href=|of-a-customer|verb-of-a-text/);
    expect(response.headers.get("set-cookie")).toBeNull();
    const next = await (await open(await share({ kind: "run", ids: [runs[1]] }))).text();
    expect(next).toContain("params differ");
    expect(next).not.toContain("of-a-customer");
  });

  test("With texts, groups by words and ids of samples are there too", async () => {
    const html = await (await open(await share(ofRun({ with_texts: true })))).text();
    expect(html).toContain("verb-of-a-text");
    expect(html).toContain("a-of-a-customer");
    expect(html).toContain("Its texts have been deleted.");
  });

  test("A comparison is shown with its sentence, difference and interval", async () => {
    const html = await (await open(await share({ kind: "comparison", ids: runs.slice(0, 2) }))).text();
    expect(html).toContain("<title>after against before &lt;b&gt; · Presage</title>");
    expect(html).toContain("<h1>after against before &lt;b&gt;</h1>");
    expect(html).toContain("No difference between after and before &lt;b&gt; can be shown");
    expect(html).toContain("Better / worse / same");
    expect(html).toContain(`<td class="n" data-label="Better / worse / same">0 / 1 / 5</td>`);
  });

  test("A reality check is shown with its 2×2, and its link ends with it", async () => {
    const pairs = [..."abcdefghij"].map((episode_id) => ({
      ...{ task_id: "<t>", episode_id, policy: "<p>", simulated: true, real: episode_id < "f" },
    }));
    const made = await presage.call("POST", "/v1/reality-checks", {
      name: "in the <lab>",
      pairs,
      false_success_limit: 0.2,
    });
    const { id } = RealityCheck.parse(await made.json());
    await using store = await openStore(presage.databaseUrl);
    await store.database
      .updateTable("reality_episodes")
      .set({ verbs: JSON.stringify(["verb-of-a-text"]) })
      .where("check_id", "=", id)
      .where("real", "=", 0)
      .execute();
    await store.database
      .updateTable("reality_episodes")
      .set({ verbs: "[]" })
      .where("check_id", "=", id)
      .where("real", "=", 1)
      .execute();
    const link = await share({ kind: "reality-check", ids: [id] });
    const html = await (await open(link)).text();
    expect(html).toContain("<h1>Reality check: in the &lt;lab&gt;</h1>");
    expect(html).toContain(
      "Of 10 episodes in 1 task that succeeded in simulation, 5 failed in reality: 50.0 %",
    );
    expect(html).toContain(
      `<p class="lead">Not decided against the check&#x27;s limit of 20 %: more episodes are needed.</p>`,
    );
    expect(html).toContain("Shares of episodes, with their 95\u00a0% intervals.");
    expect(html).not.toMatch(/verb-of-a-text|&lt;p&gt;/);
    const texts = await share({ kind: "reality-check", ids: [id], with_texts: true });
    expect(await (await open(texts)).text()).toMatch(/&lt;p&gt;.*verb-of-a-text/s);
    expect(html).toContain("Too few tasks: an interval takes 6.");
    expect((await presage.call("DELETE", `/v1/reality-checks/${id}`)).status).toBe(204);
    expect(await statusOf(link)).toBe(404);
  });

  test("An address that is no link, or was one, answers alike, and never repeats its token", async () => {
    const revoked = await share(ofRun());
    expect((await presage.call("DELETE", `/v1/shares/${revoked.id}`)).status).toBe(204);
    expect((await presage.call("DELETE", `/v1/shares/${revoked.id}`)).status).toBe(404);
    for (const token of [revoked.path.slice("/share/".length), generateSecret("pss_"), "pss_short", "%00"]) {
      const response = await fetch(`${presage.url}/share/${token}`);
      const html = await response.text();
      expect([token, response.status]).toEqual([token, 404]);
      expect(html).toContain("This link does not work");
      expect(html).not.toContain(token);
      expect(response.headers.get("referrer-policy")).toBe("no-referrer");
      expect(response.headers.get("cache-control")).toBe("no-store");
    }
    const wrongMethod = await fetch(presage.url + revoked.path, { method: "POST" });
    expect([wrongMethod.status, wrongMethod.headers.get("referrer-policy")]).toEqual([405, "no-referrer"]);
    expect(await wrongMethod.text()).not.toContain("pss_");
  });

  test("A link ends with the key, the role and the access of who made it", async () => {
    await using store = await openStore(presage.databaseUrl);
    const userId = await makeUser(store, "member");
    const key = await makeKey(store, userId, ["evaluate", "read"]);
    const byKey = await share(ofRun(), key);
    const other = await share(ofRun(), await makeKey(store, userId));
    expect([await statusOf(byKey), await statusOf(other)]).toEqual([200, 200]);
    const { data } = (await (await presage.call("GET", "/v1/api-keys")).json()) as {
      data: { id: string; user_id: string; name: string }[];
    };
    const made = data.find(({ user_id, name }) => user_id === userId && name === "evaluate read");
    await presage.call("DELETE", `/v1/api-keys/${made?.id}`);
    expect([await statusOf(byKey), await statusOf(other)]).toEqual([404, 200]);

    const setRole = (role: string) => presage.call("PATCH", `/v1/members/${userId}`, { role });
    await setRole("viewer");
    expect(await statusOf(other)).toBe(404);
    // Another change does not bring the link back.
    await setRole("member");
    expect(await statusOf(other)).toBe(404);

    const last = await share(ofRun(), await makeKey(store, userId));
    const author = {
      accountId: store.owner.account_id,
      actor: { kind: "command_line", userId: null, id: null, name: null, requestId: null },
    } as const;
    await endUser(store.database, author, (await getUser(store.database, userId)).id);
    expect(await statusOf(last)).toBe(404);
  });

  test("The link of a maker who went to another account stays ended when they are back", async () => {
    await using store = await openStore(presage.databaseUrl);
    const userId = await makeUser(store, "member");
    const link = await share(ofRun(), await makeKey(store, userId));
    const user = await getUser(store.database, userId);
    for (const accountName of ["elsewhere", "default"]) {
      expect(await statusOf(link)).toBe(accountName === "elsewhere" ? 200 : 404);
      await store.database
        .transaction()
        .execute((transaction) =>
          upsertUserWithAccount(
            transaction,
            { ...user, account_id: Bun.randomUUIDv7() },
            { accountName, newUserRole: "member", issuer: user.oidc_issuer },
          ),
        );
    }
    expect(await statusOf(link)).toBe(404);
  });

  test("Who may not read makes no link to read by", async () => {
    await using store = await openStore(presage.databaseUrl);
    const key = await makeKey(store, await makeUser(store, "member"), ["evaluate"]);
    const refused = await presage.call("POST", "/v1/shares", ofRun({ with_texts: true }), key);
    expect(refused.status).toBe(403);
  });

  test("A link ends with its run, its time and its account", async () => {
    const ofGone = await share({ kind: "comparison", ids: [runs[0], runs[2]] });
    expect(await statusOf(ofGone)).toBe(200);
    await presage.call("DELETE", `/v1/runs/${runs[2]}`);
    expect(await statusOf(ofGone)).toBe(404);
    expect((await listed()).some(({ id }) => id === ofGone.id)).toBe(false);

    const link = await share(ofRun());
    await using store = await openStore(presage.databaseUrl);
    const at = (expires_at: number) =>
      store.database.updateTable("shares").set({ expires_at }).where("id", "=", link.id).execute();
    await at(nowMicros() - 1);
    expect(await statusOf(link)).toBe(404);
    const work = {
      database: store.database,
      takeStep: (step: Parameters<typeof takeDeletionStep>[1]) => takeDeletionStep(store.database, step),
      onDeleted() {},
    };
    await deleteWhatIsOld(work, {}, nowMicros(), new AbortController().signal);
    const left = await store.database.selectFrom("shares").select("id").where("id", "=", link.id).execute();
    expect(left).toEqual([]);

    const another = await share(ofRun());
    const closed = { account_id: store.owner.account_id, closed_at: nowMicros() };
    await store.database.insertInto("closed_accounts").values(closed).execute();
    expect(await statusOf(another)).toBe(404);
    await store.database.deleteFrom("closed_accounts").where("account_id", "=", closed.account_id).execute();
    expect(await statusOf(another)).toBe(200);
  });

  test("A link needs an end within a year and what it can show", async () => {
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const { created_at, expires_at } = await share(ofRun());
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(30 * 86_400_000);
    for (const [body, status] of [
      [ofRun({ expires_at: inDays(365) }), 201],
      [ofRun({ expires_at: inDays(367) }), 422],
      [ofRun({ expires_at: inDays(-1) }), 422],
      [{ kind: "run", ids: runs.slice(0, 2) }, 422],
      [{ kind: "comparison", ids: runs.slice(0, 1) }, 422],
      [{ kind: "comparison", ids: [runs[0], runs[0]] }, 422],
      [{ kind: "run", ids: [crypto.randomUUID()] }, 404],
    ] as const)
      expect([body, (await presage.call("POST", "/v1/shares", body)).status]).toEqual([body, status]);
  });

  test("The list has the account's links to an object, without their secrets; another account has none of them", async () => {
    const link = await share({ kind: "comparison", ids: [runs[1], runs[0]] });
    const response = await presage.call("GET", `/v1/shares?ids=${runs[1]},${runs[0]}`);
    const text = await response.text();
    expect(text).not.toContain("pss_");
    const { path: _, ...shown } = link;
    expect(ShareListResponse.parse(JSON.parse(text)).data).toEqual([shown]);
    const stranger = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
    const others = await presage.call("GET", "/v1/shares", undefined, stranger);
    expect(await others.json()).toEqual({ data: [], next: null });
    const attempt = await presage.call("DELETE", `/v1/shares/${link.id}`, undefined, stranger);
    expect([attempt.status, await statusOf(link)]).toEqual([404, 200]);
  });

  test("Only a digest is stored", async () => {
    const { path } = await share(ofRun());
    await using store = await openStore(presage.databaseUrl);
    const rows = await store.database.selectFrom("shares").selectAll().execute();
    const events = await store.database.selectFrom("audit_events").selectAll().execute();
    expect(JSON.stringify([rows, events])).not.toContain(path.slice("/share/".length));
  });
});
