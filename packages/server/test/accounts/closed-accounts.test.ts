import { expect, test } from "bun:test";
import { sql } from "kysely";
import { eraseResults, eraseUntilNothingIsLeft } from "../../src/cli/accounts/erase.ts";
import {
  closeAccount,
  refuseClosedAccounts,
  reopenAccount,
  selectClosed,
  waitForEarlierWriters,
} from "../../src/platform/storage/closed-accounts-store.ts";
import { ordinaryRecord } from "../../src/results/evaluation-record.fixture.ts";
import { createWriteResults } from "../../src/results/write/write-results.ts";
import { orsClient } from "../support/environments/ors-client.ts";
import { eventually } from "../support/eventually.ts";
import { startPresageWithProvider } from "../support/presage/presage-with-provider.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { openBrowser } from "../support/sign-in/browser.ts";
import { signInAtProvider } from "../support/sign-in/sign-in-at-provider.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const evaluation = {
  evaluators: [{ evaluator: "exact-match" }],
  evaluated_model_output: "An open door.",
  evaluated_model_gold_answer: "An open door.",
};
const prediction = { interaction: { state: "A door.", action: "open it" } };

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_CAPTURE: "all" });

  test("Whatever a request had begun, nothing is stored for an account that is closed meanwhile", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const store = opened.database;
    const { account_id } = opened.owner;
    const tables = ["evaluation_results", "predictions", "projects", "episodes", "usage_counts"] as const;
    const rows = async () => {
      const counted = tables.map(async (table) => {
        const found = await store.selectFrom(table).select("account_id").execute();
        return found.length;
      });
      return await Promise.all(counted);
    };
    await closeAccount(store, account_id);
    // The key itself is still valid, as for a request that began earlier.
    const changes: [string, unknown][] = [
      ["/v1/evaluate", evaluation],
      ["/v1/projects", { name: "kitchen" }],
      ["/v1/episodes", { environment: "sandbox", index: 0 }],
    ];
    for (const [path, body] of changes) {
      const response = await presage.call("POST", path, body);
      expect([path, response.status, await response.text()]).toEqual([
        path,
        401,
        expect.stringContaining("The account has been deleted"),
      ]);
    }
    const ors = orsClient(presage);
    const session = await ors.newSession();
    const task = { env_name: "sandbox", split: "test", index: 0 };
    const refused = await ors.send("POST", "/create", task, session);
    expect([refused.status, await refused.text()]).toEqual([
      401,
      expect.stringContaining("has been deleted"),
    ]);
    expect((await presage.call("POST", "/v1/predict", prediction)).status).toBe(200);

    // Predictions are stored shortly after their response.
    const handled = () => readMetric(presage, 'presage_captured_predictions_total{outcome="written"}');
    expect(await eventually(handled, (count) => count > 0)).toBe(1);
    await reopenAccount(store, account_id);
    for (const [path, body] of changes) expect((await presage.call("POST", path, body)).ok).toBe(true);
    expect((await presage.call("POST", "/v1/predict", prediction)).status).toBe(200);
    const stored = await eventually(rows, (counts) => counts.every((count) => count > 0));
    expect(stored.slice(0, 4)).toEqual([1, 1, 1, 1]);
  });

  test("Results of other accounts are stored where one of a batch is closed", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const closed = Bun.randomUUIDv7();
    await closeAccount(opened.database, closed);
    const write = createWriteResults(opened.database);
    await expect(write([{ ...ordinaryRecord, accountId: closed }])).rejects.toThrow(
      "account has been deleted",
    );
    const series = opened.database.selectFrom("evaluation_series").select("id");
    expect(await series.where("account_id", "=", closed).execute()).toEqual([]);
    const { ids } = await write([{ ...ordinaryRecord, accountId: Bun.randomUUIDv7() }]);
    expect(ids.length).toBe(1);
  });

  test("What is in an account that was opened again is not erased", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const store = opened.database;
    const accountId = Bun.randomUUIDv7();
    await createWriteResults(store)([{ ...ordinaryRecord, accountId }]);
    const rows = async () => {
      const tables = ["evaluation_results", "evaluation_series"] as const;
      const found = tables.map((table) =>
        store.selectFrom(table).select("id").where("account_id", "=", accountId).execute(),
      );
      return (await Promise.all(found)).map(({ length }) => length > 0);
    };
    const erased = await eraseUntilNothingIsLeft(store, accountId);
    expect([...erased.values()].filter((count) => count > 0)).toEqual([]);
    expect(await rows()).toEqual([true, true]);
    await closeAccount(store, accountId);
    await eraseResults(store, accountId);
    expect(await rows()).toEqual([false, false]);
  });

  test("What is stored in an account that was erased and opened again is counted by a process that knew its series", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const store = opened.database;
    const accountId = Bun.randomUUIDv7();
    const series = async () => {
      const found = await store
        .selectFrom("evaluation_series")
        .select("id")
        .where("account_id", "=", accountId)
        .orderBy("id")
        .execute();
      return found.map(({ id }) => id);
    };
    const write = createWriteResults(store);
    await write([{ ...ordinaryRecord, accountId }]);
    const before = await series();
    expect(before).not.toEqual([]);
    await closeAccount(store, accountId);
    await eraseResults(store, accountId);
    expect(await series()).toEqual([]);
    await reopenAccount(store, accountId);
    const { ids } = await write([{ ...ordinaryRecord, accountId }]);
    expect(ids.length).toBe(1);
    expect(await series()).toEqual(before);
  });

  test("An account whose erasure was interrupted is opened for whoever joins it, and can be left", async () => {
    const databaseUrl = await database.create();
    await using running = await startPresageWithProvider(databaseUrl, {
      PRESAGE_OIDC_ACCOUNT_CLAIM: "team",
    });
    const { provider } = running;
    await using opened = await openStore(databaseUrl);
    const signIn = async (subject: string, team: string) => {
      provider.people.set(subject, { name: subject, team });
      provider.subject = subject;
      const { response } = await signInAtProvider(openBrowser(), running.presage.url);
      expect([subject, team, response.status]).toEqual([subject, team, 200]);
      const { account_id } = await opened.database
        .selectFrom("users")
        .select("account_id")
        .where("oidc_subject", "=", subject)
        .executeTakeFirstOrThrow();
      return account_id;
    };
    const accountId = await signIn("ada", "analysts");
    await closeAccount(opened.database, accountId);
    expect(await signIn("kim", "analysts")).toBe(accountId);
    expect(await selectClosed(opened.database, [accountId])).toEqual(new Set());

    await closeAccount(opened.database, accountId);
    expect(await signIn("ada", "builders")).not.toBe(accountId);
    expect(await selectClosed(opened.database, [accountId])).toEqual(new Set([accountId]));
    const left = await opened.database
      .selectFrom("audit_events")
      .select("action")
      .where("account_id", "=", accountId)
      .where("action", "=", "user.change_account")
      .execute();
    expect(left).toEqual([]);
  });

  // On SQLite there is one writer at a time.
  if (database.name === "SQLite") return;
  test("Whoever closes an account can wait for those that looked before", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const accountId = Bun.randomUUIDv7();
    const order: string[] = [];
    let waiting: Promise<unknown> = Promise.resolve();
    await opened.database.transaction().execute(async (transaction) => {
      await refuseClosedAccounts(transaction, [accountId]);
      await closeAccount(opened.database, accountId);
      const patient = { onSlow() {}, slowMs: 600_000, maxMs: 600_000 };
      waiting = waitForEarlierWriters(opened.database, patient).then(() => order.push("waited"));
      // Gives a call that fails to wait the time to get ahead.
      await Bun.sleep(300);
      order.push("stored");
    });
    await waiting;
    expect(order).toEqual(["stored", "waited"]);
  });

  test("Whoever waits for a transaction that does not end is told so, and then gives up", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const told: string[] = [];
    const isOver = await opened.database.transaction().execute(async (transaction) => {
      // `pg_dump` locks every table in this way.
      await sql`lock table closed_accounts in access share mode`.execute(transaction);
      const impatient = { onSlow: () => told.push("slow"), slowMs: 0, maxMs: 2_000 };
      return await waitForEarlierWriters(opened.database, impatient);
    });
    expect([isOver, told]).toEqual([false, ["slow"]]);
  });
});
