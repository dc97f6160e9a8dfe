import { expect, test } from "bun:test";
import { anyRequester } from "../../test/support/store/requester.ts";
import { storeOf } from "../../test/support/store/store-of.ts";
import { readConfig } from "../config/config.ts";
import { createLog } from "../platform/observability/logger.ts";
import { openDatabase } from "../platform/storage/open.ts";
import { openSqliteDatabase } from "../platform/storage/sqlite/sqlite.ts";
import { evaluate } from "../results/evaluate-route.ts";
import { composeDeployments } from "./compose-deployments.ts";
import { composeEvaluation } from "./compose-evaluation.ts";

test("a request with a key does not wait for a thread that reads", async () => {
  const { database, destroy } = await openDatabase("sqlite::memory:", () => {});
  // Reading from it fails, as it has no tables.
  const briefReader = openSqliteDatabase(":memory:");
  const store = { database, briefReader: () => briefReader, writers: undefined };
  const config = readConfig({ PRESAGE_UPSTREAM_URL: "http://127.0.0.1:1/v1" });
  const { deployments } = await composeDeployments(config, createLog("silent").logger);
  const { dispose, ...evaluation } = composeEvaluation(config, createLog("silent"), store, { deployments });
  const request = {
    accountId: "account",
    actor: anyRequester().actor,
    sample: { output: "a", goldAnswer: "a" },
    evaluators: [{ evaluator: "exact-match", explainStrategy: "always" as const }],
    metadata: { app: "default" },
    capture: "all" as const,
    hasConfidenceInterval: false,
    idempotencyKey: "key",
  };
  const { signal } = new AbortController();
  const services = { store: { ...storeOf(database), briefReader: store.briefReader }, ...evaluation };
  const first = await evaluate(services, request, signal);
  expect(await evaluate(services, request, signal)).toEqual(first);
  await dispose();
  await briefReader.destroy();
  await destroy();
});
