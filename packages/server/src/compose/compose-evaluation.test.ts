import { expect, test } from "bun:test";
import { readConfig } from "../config.ts";
import { createLog } from "../observability/logger.ts";
import { openDatabase } from "../storage/open-database.ts";
import { openSqliteDatabase } from "../storage/sqlite/open-sqlite-database.ts";
import { composeEvaluation } from "./compose-evaluation.ts";

test("an order under a key waits for no thread that reads", async () => {
  const { database, destroy } = await openDatabase("sqlite::memory:", () => {});
  // Whoever asks it hears that it has no tables.
  const briefReader = openSqliteDatabase(":memory:");
  const store = { database, briefReader: () => briefReader, sqlitePath: undefined };
  const { evaluate, dispose } = composeEvaluation(readConfig({}), createLog("silent"), store);
  const order = {
    accountId: "account",
    sample: { output: "a", goldAnswer: "a" },
    evaluators: [{ evaluator: "exact-match", explainStrategy: "always" as const }],
    metadata: { app: "default" },
    capture: "all" as const,
    hasConfidenceInterval: false,
    idempotencyKey: "key",
  };
  const { signal } = new AbortController();
  const first = await evaluate(order, signal);
  expect(await evaluate(order, signal)).toEqual(first);
  await dispose();
  await briefReader.destroy();
  await destroy();
});
