import { expect, test } from "bun:test";
import { createWriteResults } from "../../src/evaluation/results/keep/write-results.ts";
import { ordinaryRecord } from "../../src/evaluation/results/record/evaluation-record.fixture.ts";
import {
  closeAccount,
  refuseClosedAccounts,
  reopenAccount,
  waitForEarlierWriters,
} from "../../src/storage/closed-accounts-store.ts";
import { eventually } from "../support/eventually.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const evaluation = {
  evaluators: [{ evaluator: "exact-match" }],
  evaluated_model_output: "An open door.",
  evaluated_model_gold_answer: "An open door.",
};
const prediction = { interaction: { state: "A door.", action: "open it" } };

onEachDatabase((database) => {
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
    // The key itself is still valid, as it is for a request that began before.
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
        expect.stringContaining("The account was deleted meanwhile"),
      ]);
    }
    expect((await presage.call("POST", "/v1/predict", prediction)).status).toBe(200);

    // Predictions are stored a moment after their response.
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
    await expect(write([{ ...ordinaryRecord, accountId: closed }])).rejects.toThrow("account was deleted");
    const { ids } = await write([{ ...ordinaryRecord, accountId: Bun.randomUUIDv7() }]);
    expect(ids.length).toBe(1);
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
      waiting = waitForEarlierWriters(opened.database).then(() => order.push("waited"));
      // Time for one that does not wait to get ahead.
      await Bun.sleep(300);
      order.push("stored");
    });
    await waiting;
    expect(order).toEqual(["stored", "waited"]);
  });
});
