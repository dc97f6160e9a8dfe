import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { countValues } from "../../src/prediction/kept/count-values.ts";
import { deleteOldest } from "../../src/prediction/kept/deleted-predictions-store.ts";
import {
  type PredictionFilter,
  selectPayload,
  selectPrediction,
  selectPredictions,
} from "../../src/prediction/kept/kept-predictions-store.ts";
import type { PredictionsTable } from "../../src/storage/schema/predictions.ts";
import type { Database } from "../../src/storage/schema/tables.ts";
import { insertRows } from "../../src/storage/writing/insert-rows.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openPlanned, type PlannedDatabase } from "../support/store/planned-database.ts";

/** Enough rows that PostgreSQL prefers an index to a full scan. */
const rows = 20_000;
const account = "plans";

const filters: Record<string, PredictionFilter> = {
  nothing: {},
  "a source": { source: "run" },
  "a run": { run_id: "run7" },
  "a status": { status: "failed" },
  "a category": { error_category: "timeout" },
  "a deployment": { deployment: "deployment3" },
  "a model": { model: "model5" },
  "a key": { api_key_id: "key9" },
  "a request": { request_id: "request9" },
  "a time": { from: 1_000, to: 5_000 },
  "a model and a time": { model: "model5", from: 1_000 },
  "much at once": { source: "live", status: "failed", deployment: "deployment3", to: 9_000 },
};

function rowAt(at: number): PredictionsTable {
  const isLive = at % 5 !== 0;
  const hasFailed = at % 50 === 1;
  return {
    id: `id${at}`,
    account_id: at % 2 === 0 ? account : "another",
    source: isLive ? "live" : "run",
    created_at: at,
    run_id: isLive ? null : `run${at % 30}`,
    position: isLive ? null : at,
    repeat: isLive ? null : 0,
    status: hasFailed ? "failed" : "success",
    error_category: hasFailed ? "timeout" : null,
    deployment: `deployment${at % 40}`,
    model: `model${at % 40}`,
    sent_model: null,
    replica: null,
    finish_reason: null,
    prompt_tokens: 0,
    cached_tokens: 0,
    completion_tokens: 0,
    latency_micros: null,
    api_key_id: isLive ? `key${at % 40}` : null,
    request_id: isLive ? `request${at}` : null,
  };
}

onEachDatabase((database) => {
  const isSqlite = database.name === "SQLite";
  let watched: Database;
  let plansOf: PlannedDatabase["plansOf"];

  beforeAll(async () => {
    ({ database: watched, plansOf } = await openPlanned(database));
    await insertRows(
      watched,
      "predictions",
      Array.from({ length: rows }, (_, at) => rowAt(at)),
    );
    await insertRows(
      watched,
      "prediction_payloads",
      Array.from({ length: rows }, (_, at) => ({
        prediction_id: `id${at}`,
        context_digest: `digest${at % 1_000}`,
        request: null,
        output: null,
        reasoning: null,
        error_message: null,
      })),
    );
    await insertRows(
      watched,
      "prediction_contexts",
      Array.from({ length: 1_000 }, (_, at) => ({
        account_id: account,
        digest: `digest${at}`,
        context: "{}",
      })),
    );
    await sql`analyze`.execute(watched);
  }, 120_000);
  afterAll(() => watched.destroy());

  const isScan = (line: string) => (isSqlite ? /^SCAN /.test(line) : /Seq Scan on prediction/.test(line));
  const isSort = (line: string) => (isSqlite ? /TEMP B-TREE/.test(line) : /Sort/.test(line));

  test.each(Object.entries(filters))("A list by %s is read from an index, in order", async (_, filter) => {
    const page = { limit: 50, after: { createdAt: rows - 100, id: "id" } };
    const plans = await plansOf(() => selectPredictions(watched, account, filter, page));
    expect(plans.filter(isScan)).toEqual([]);
    // PostgreSQL may sort the few that several filters leave.
    if (Object.keys(filter).length < 3) expect(plans.filter(isSort)).toEqual([]);
  });

  test("What filters can be set to is read at once, except for those that are set", async () => {
    const reads = async (filter: PredictionFilter) => {
      const plans = await plansOf(() => countValues(watched, account, filter));
      return plans.filter((line) => /\b(on|SEARCH|SCAN) predictions\b/.test(line));
    };
    expect(await reads({})).toHaveLength(1);
    expect(await reads({ from: 1_000, status: "failed" })).toHaveLength(2);
  });

  test("One prediction is found by its primary key, with its texts", async () => {
    const plans = await plansOf(async () => {
      await selectPrediction(watched, account, "id10");
      await selectPayload(watched, account, "id10");
    });
    expect(plans.filter(isScan)).toEqual([]);
  });

  test("The oldest of one account, and of all, are found and deleted by indexes", async () => {
    const plans = await plansOf(async () => {
      await deleteOldest(watched, { accountId: account, before: 5_000 }, 50);
      await deleteOldest(
        watched,
        { accountId: account, before: 5_000, filter: { model: "model5", from: 7 } },
        50,
      );
      await deleteOldest(watched, { accountId: undefined, before: 5_000 }, 50);
    });
    expect(plans.filter(isScan)).toEqual([]);
  });
});
