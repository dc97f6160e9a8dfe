import { expect, test } from "bun:test";
import { eraseRows } from "../../src/accounts/account-tables-store.ts";
import { closeAccount } from "../../src/platform/storage/closed-accounts-store.ts";
import { onSqlite } from "../support/store/databases.ts";
import { openPlanned } from "../support/store/planned-database.ts";

onSqlite((database) => {
  test("A small transaction of an erasure reads no more rows than it deletes", async () => {
    const { database: watched, plansOf } = await openPlanned(database);
    await closeAccount(watched, "a");
    const plans = await plansOf(() => eraseRows(watched, "a"));
    const ofPredictions = plans.filter((line) => /\bpredictions\b/.test(line));
    expect(ofPredictions).toEqual([
      expect.stringMatching(/^SEARCH predictions USING (COVERING )?INDEX \S+ \(id=\?\)$/),
      expect.stringMatching(/^SEARCH predictions USING COVERING INDEX \S+ \(account_id=\?\)$/),
    ]);
    // Sessions are few, and end soon.
    const scans = plans.filter((line) => /^SCAN |TEMP B-TREE/.test(line) && line !== "SCAN ors_sessions");
    expect(scans).toEqual([]);
    await watched.destroy();
  });
});
