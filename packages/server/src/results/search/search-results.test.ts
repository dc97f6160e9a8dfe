import { expect, test } from "bun:test";
import { sql } from "kysely";
import { onEachDatabase } from "../../../test/support/store/databases.ts";
import { openStore } from "../../../test/support/store/open-store.ts";
import { anyRequester } from "../../../test/support/store/requester.ts";
import { storeResults } from "../../../test/support/store/store-results.ts";
import { searchResults } from "./search-results.ts";

onEachDatabase((database) => {
  test("a search for few results ends before those for many that its account asked for earlier", async () => {
    await using store = await openStore(await database.create());
    const requester = anyRequester(store.owner.account_id);
    await storeResults(store.database, requester.accountId, [{}]);
    const ended: string[] = [];
    const search = async (what: string, limit: number) => {
      const page = { order: "newest-first" as const, limit };
      const found = await searchResults({ store }, requester, { status: "success" }, page);
      expect(found.count).toBe(1);
      ended.push(what);
    };
    await search("first", 10);
    // The connections are in use until all searches have asked for one.
    const slow =
      database.name === "SQLite"
        ? sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000000) select max(i) from n`
        : sql`select pg_sleep(0.3)`;
    const busy = Array.from({ length: 4 }, () => slow.execute(store.reader(requester)));
    await Bun.sleep(10);
    const long = Array.from({ length: 12 }, () => search("long", 1_000));
    await search("short", 10);
    // PostgreSQL has four connections for an account, so some of the long searches may have begun.
    expect(ended.filter((what) => what === "long").length).toBeLessThanOrEqual(4);
    await Promise.all([...busy, ...long]);
  });
});
