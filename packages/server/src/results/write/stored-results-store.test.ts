import { expect, test } from "bun:test";
import { anyRequester } from "../../../test/support/store/requester.ts";
import { storeOf } from "../../../test/support/store/store-of.ts";
import { notFound } from "../../platform/errors.ts";
import { openDatabase } from "../../platform/storage/open.ts";
import { openSqliteDatabase } from "../../platform/storage/sqlite/sqlite.ts";
import { getResult } from "./stored-results-store.ts";

test("one result is read where no long read is in progress", async () => {
  const { database, destroy } = await openDatabase("sqlite::memory:", () => {});
  // It has no tables, so any query fails.
  const empty = openSqliteDatabase(":memory:");
  const store = { ...storeOf(database), reader: () => empty };
  expect(await getResult({ store }, anyRequester(), 1).catch((error: unknown) => error)).toEqual(
    notFound("evaluation result"),
  );
  await empty.destroy();
  await destroy();
});
