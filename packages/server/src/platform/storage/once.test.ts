import { expect, test } from "bun:test";
import { sql } from "kysely";
import { eventually } from "../../../test/support/eventually.ts";
import { onEachDatabase } from "../../../test/support/store/databases.ts";
import { openStore } from "../../../test/support/store/open-store.ts";
import { doOnce } from "./once.ts";

onEachDatabase(({ name, create }) => {
  if (name !== "PostgreSQL") return;
  test("the result is returned before old requests are deleted", async () => {
    await using store = await openStore(await create());
    const { database } = store;
    const old = { id: "old", request_digest: "", receipt: "", created_at: 0 };
    await database.insertInto("idempotent_requests").values(old).execute();
    await sql`create function dawdle() returns trigger language plpgsql
      as 'begin perform pg_sleep(2); return old; end'`.execute(database);
    await sql`create trigger dawdle before delete on idempotent_requests
      for each row execute function dawdle()`.execute(database);
    const ids = async () => {
      const rows = await database.selectFrom("idempotent_requests").select("id").orderBy("id").execute();
      return rows.map(({ id }) => id);
    };
    const once = { id: "new", requestDigest: "" };
    await doOnce(database, once, { work: async () => 1, toReceipt: () => 1, recall: async () => 1 });
    expect(await ids()).toEqual(["new", "old"]);
    expect(await eventually(ids, ({ length }) => length === 1)).toEqual(["new"]);
  });
});
