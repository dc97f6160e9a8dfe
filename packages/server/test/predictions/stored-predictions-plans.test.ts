import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { insertRows } from "../../src/platform/storage/rows.ts";
import type { PredictionsTable } from "../../src/platform/storage/schema/runs.ts";
import type { Database } from "../../src/platform/storage/schema/tables.ts";
import { deleteOldest } from "../../src/predictions/deleted-predictions-store.ts";
import { countValues } from "../../src/predictions/stored-predictions.ts";
import {
  countPredictions,
  type PredictionFilter,
  selectPayload,
  selectPrediction,
  selectPredictions,
} from "../../src/predictions/stored-predictions-store.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openPlanned, type PlannedDatabase } from "../support/store/planned-database.ts";

/** Enough rows that PostgreSQL prefers an index to a full scan. */
const rows = 20_000;
const account = "plans";

/** PostgreSQL reads a page for each source and status, and sorts the rows of all of them. */
const mostSorted = 6 * 51;

/** Filters by name, each with the index that serves it. */
const filters: Record<string, [index: string, PredictionFilter]> = {
  nothing: ["newest", {}],
  "a source": ["newest", { source: "run" }],
  "a status": ["newest", { status: "failed" }],
  "the status of most": ["newest", { status: "success" }],
  "a source and a status": ["newest", { source: "episode", status: "success" }],
  "a time": ["newest", { from: 1_000, to: 5_000 }],
  "a category": ["by_error_category", { error_category: "timeout" }],
  "a deployment": ["by_deployment", { deployment: "deployment3" }],
  "a model": ["by_model", { model: "model5" }],
  "a key": ["by_api_key_id", { api_key_id: "key9" }],
  "a request": ["by_request_id", { request_id: "request9" }],
  "a model and a time": ["by_model", { model: "model5", from: 1_000 }],
  "much at once": [
    "by_deployment",
    { source: "live", status: "failed", deployment: "deployment3", to: 9_000 },
  ],
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
    score: null,
    confidence: null,
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
  }, 300_000);
  afterAll(() => watched.destroy());

  const isScan = (line: string) =>
    isSqlite ? /^SCAN (?!some$|newest$|of_)/.test(line) : /Seq Scan on prediction/.test(line);
  /** Rows that an index returns in order of time are sorted by id piece by piece. */
  const isSort = (line: string) =>
    isSqlite
      ? /TEMP B-TREE/.test(line)
      : /(?<!Incremental )Sort /.test(line) && Number(/rows=(\d+)/.exec(line)?.[1]) > mostSorted;

  const indexesOf = (plans: string[]) =>
    new Set(plans.flatMap((line) => /\bpredictions_(\w+)/.exec(line)?.[1] ?? []));
  const page = { limit: 50, after: { createdAt: rows - 100, id: "id" } };

  test.each(Object.entries(filters))(
    "A list by %s is read from an index, in order",
    async (name, [index, filter]) => {
      const plans = await plansOf(() => selectPredictions(watched, account, filter, page));
      expect(plans.filter(isScan)).toEqual([]);
      // PostgreSQL may sort the few that several filters leave.
      if (!isSqlite && name === "much at once") return;
      expect(plans.filter(isSort)).toEqual([]);
      if (isSqlite) expect(indexesOf(plans)).toEqual(new Set([index]));
    },
  );

  test("A list by a run sorts the rows of that run, whatever else it is filtered by", async () => {
    for (const filter of [{}, { source: "run", status: "success", model: "model5" }] as const) {
      const plans = await plansOf(() =>
        selectPredictions(watched, account, { ...filter, run_id: "run10" }, page),
      );
      expect(plans.filter(isScan)).toEqual([]);
      if (isSqlite) expect(indexesOf(plans)).toEqual(new Set(["of_a_run"]));
    }
  });

  test("Counts and values are read from indexes", async () => {
    for (const filter of [
      {},
      { run_id: "run10" },
      { model: "model5" },
      { status: "failed", to: 5_000 },
    ] as const) {
      const plans = await plansOf(async () => {
        await countPredictions(watched, account, filter, 1_000);
        await countValues(watched, account, filter);
      });
      expect(plans.filter(isScan)).toEqual([]);
    }
  });

  test("What filters can be set to is read at once, except for those that are set", async () => {
    const reads = async (filter: PredictionFilter) => {
      const plans = await plansOf(() => countValues(watched, account, filter));
      return plans.filter((line) => /\b(on|SEARCH|SCAN) predictions\b/.test(line));
    };
    // One read for each source with each status.
    expect(await reads({})).toHaveLength(6);
    expect(await reads({ from: 1_000, status: "failed" })).toHaveLength(3 + 6);
    expect(await reads({ model: "model5" })).toHaveLength(1 + 6);
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
