import { expect, test } from "bun:test";
import { readConfig } from "../config.ts";
import { ServiceError } from "../errors.ts";
import { createLog } from "../observability/logger.ts";
import { openDatabase } from "../storage/open-database.ts";
import { openSqliteDatabase } from "../storage/sqlite/open-sqlite-database.ts";
import { composeEvaluation } from "./compose-evaluation.ts";
import { composeResults } from "./compose-results.ts";

test("one result is read where no long read is under way", async () => {
  const { database, destroy } = await openDatabase("sqlite::memory:", () => {});
  // Whoever asks it hears that it has no tables.
  const reader = openSqliteDatabase(":memory:");
  const store = {
    database,
    writer: () => database,
    reader: () => reader,
    briefReader: () => database,
    sqlitePath: undefined,
  };
  const evaluation = composeEvaluation(readConfig({}), createLog("silent"), store);
  const { findResult } = composeResults(store, evaluation.registry, evaluation);
  const asker = { accountId: "account", signal: new AbortController().signal };
  expect(await findResult(asker, 1).catch((error: unknown) => error)).toEqual(
    new ServiceError("not_found", "There is no such evaluation result."),
  );
  await evaluation.dispose();
  await reader.destroy();
  await destroy();
});
