import { expect, test } from "bun:test";
import { sql } from "kysely";
import { onEachDatabase } from "../../../test/support/store/databases.ts";
import { anyRequester } from "../../../test/support/store/requester.ts";
import { openDatabase } from "./open.ts";
import type { Database } from "./schema/tables.ts";

onEachDatabase(({ name, create }) => {
  /** Takes one or a few tenths of a second. */
  const slowStatement =
    name === "SQLite"
      ? sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < 200000) select max(i) from n`
      : sql`select pg_sleep(0.3)`;
  const read = (database: Database) => sql`select 1`.execute(database);

  test.each(["reader", "briefReader"] as const)(
    "a later account reads with the %s before another's waiting statements",
    async (which) => {
      const { [which]: reader, destroy } = await openDatabase(await create(), () => {});
      await read(reader(anyRequester()));
      const ended: string[] = [];
      const crowded = Array.from({ length: 8 }, () =>
        slowStatement.execute(reader(anyRequester("one"))).then(() => ended.push("one")),
      );
      await Bun.sleep(10);
      await read(reader(anyRequester("other"))).then(() => ended.push("other"));
      // At most the statements in progress came before it: one on SQLite's thread, four on PostgreSQL's connections.
      expect(ended.length).toBeLessThanOrEqual(5);
      await Promise.all(crowded);
      await destroy();
    },
  );

  test("a read for few rows comes before its account's reads for many, however long they wait", async () => {
    const { reader, destroy } = await openDatabase(await create(), () => {});
    await read(reader(anyRequester()));
    const ended: string[] = [];
    const long = Array.from({ length: 12 }, () =>
      slowStatement.execute(reader(anyRequester())).then(() => ended.push("long")),
    );
    await Bun.sleep(10);
    await read(reader({ ...anyRequester(), rows: 10 })).then(() => ended.push("short"));
    // Only the statements in progress came before it: one on SQLite's thread, four on PostgreSQL's connections.
    expect(ended.length).toBeLessThanOrEqual(5);
    await Promise.all(long);
    await destroy();
  });

  test("a waiting statement does not start after its signal is aborted, and the account can read on", async () => {
    const { reader, destroy } = await openDatabase(await create(), () => {});
    const caller = new AbortController();
    const requester = { accountId: "account", signal: caller.signal };
    const all = Array.from({ length: 60 }, () => slowStatement.execute(reader(requester)));
    const settled = Promise.allSettled(all);
    await Bun.sleep(50);
    caller.abort(new Error("hung up"));
    await read(reader(anyRequester()));
    const outcomes = await settled;
    const gone = outcomes.filter((one) => one.status === "rejected" && one.reason.message === "hung up");
    expect(gone.length).toBeGreaterThanOrEqual(55);
    await destroy();
  });

  test("no statement starts after the signal is aborted, and its transaction is rolled back", async () => {
    const { reader, destroy } = await openDatabase(await create(), () => {});
    const caller = new AbortController();
    const database = reader({ accountId: "account", signal: caller.signal });
    const transaction = database.transaction().execute(async (inside) => {
      await read(inside);
      caller.abort(new Error("hung up"));
      await read(inside);
    });
    await expect(transaction).rejects.toThrow("hung up");
    await expect(read(database)).rejects.toThrow("hung up");
    expect((await read(reader(anyRequester()))).rows).toHaveLength(1);
    await destroy();
  });

  test.each(["reader", "briefReader"] as const)(
    "statements beyond an account's queue limit of the %s are refused, those of another account are not",
    async (which) => {
      const { [which]: reader, destroy } = await openDatabase(await create(), () => {});
      const caller = new AbortController();
      const requester = { accountId: "account", signal: caller.signal };
      const all = Array.from({ length: 1_100 }, () => slowStatement.execute(reader(requester)));
      const settled = Promise.allSettled(all);
      await Bun.sleep(10);
      const refused = reader(requester);
      await expect(read(refused)).rejects.toMatchObject({ code: "overloaded", retryAfterS: 1 });
      const other = read(reader(anyRequester("other")));
      caller.abort(new Error("hung up"));
      expect((await other).rows).toHaveLength(1);
      await settled;
      await destroy();
    },
  );
});
