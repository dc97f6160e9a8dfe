import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  StoredPredictionCountResponse,
  StoredPredictionDeleteResponse,
  type StoredPredictionDetail,
  StoredPredictionListResponse,
  StoredPredictionValuesResponse,
} from "@presage/contract";
import { microsPerDay, nowMicros } from "../../src/platform/storage/columns.ts";
import type { PredictionsTable } from "../../src/platform/storage/schema/runs.ts";
import { insertLivePredictions } from "../../src/predictions/stored-predictions-store.ts";
import type { StoredRows } from "../../src/predictions/stored-rows.ts";
import { eventually, expectEventually } from "../support/eventually.ts";
import { callWithKey, startPresage, testKey } from "../support/presage/presage.ts";
import { openRawClient } from "../support/presage/raw-client.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

const micros = Date.UTC(2026, 5, 1) * 1_000;

onAnyDatabase((database) => {
  // Nothing is captured, and nothing is too old.
  const presage = usePresage({ database, PRESAGE_CAPTURE_MAX_AGE_DAYS: "36500" });
  let store: Awaited<ReturnType<typeof openStore>>;
  beforeAll(async () => {
    store = await openStore(presage.databaseUrl);
  });
  afterAll(() => store.destroy());

  type Given = Partial<PredictionsTable> & {
    context?: string;
    output?: string;
    error_message?: string;
    request?: string;
  };

  /** Stores predictions as capture does, the first one the oldest, and returns their ids. */
  async function keep(all: readonly Given[], into = store): Promise<string[]> {
    const rows: StoredRows = { predictions: [], payloads: [], contexts: [] };
    for (const [
      at,
      { context, output = null, error_message = null, request = null, ...given },
    ] of all.entries()) {
      const prediction: PredictionsTable = {
        id: Bun.randomUUIDv7(),
        account_id: into.owner.account_id,
        source: "live",
        created_at: micros + at * 1_000_000,
        run_id: null,
        position: null,
        repeat: null,
        status: "success",
        error_category: null,
        deployment: null,
        model: null,
        sent_model: null,
        replica: null,
        finish_reason: null,
        prompt_tokens: 0,
        cached_tokens: 0,
        completion_tokens: 0,
        latency_micros: null,
        score: null,
        confidence: null,
        api_key_id: null,
        request_id: null,
        ...given,
      };
      rows.predictions.push(prediction);
      const payload = { request, output, reasoning: null, error_message };
      const digest = context === undefined ? null : `${prediction.account_id} ${context}`;
      rows.payloads.push({ prediction_id: prediction.id, context_digest: digest, ...payload });
      if (digest !== null && !rows.contexts.some((row) => row.digest === digest)) {
        const text = JSON.stringify({ environment_state: context });
        rows.contexts.push({ account_id: prediction.account_id, digest, context: text });
      }
    }
    await insertLivePredictions(into.database, rows);
    return rows.predictions.map(({ id }) => id);
  }

  async function list(query: string) {
    const response = await presage.call("GET", `/v1/predictions?${query}`);
    expect(response.status).toBe(200);
    return StoredPredictionListResponse.parse(await response.json());
  }

  const listedIds = async (query: string) => (await list(query)).data.map(({ id }) => id);
  const remove = (path: string) => presage.call("DELETE", `/v1/predictions${path}`);
  /** Deletes until no row is left, and returns the count: one request deletes for some seconds only. */
  const removeAll = async (query: string) => {
    let removed = 0;
    for (;;) {
      const response = await remove(query);
      expect(response.status).toBe(200);
      const { deleted, has_more } = StoredPredictionDeleteResponse.parse(await response.json());
      removed += deleted;
      if (!has_more) return removed;
    }
  };
  const contextsLike = async (part: string) => {
    const rows = await store.database.selectFrom("prediction_contexts").select("context").execute();
    return rows.filter(({ context }) => context.includes(part)).length;
  };

  describe("A list of stored predictions", () => {
    test("is newest first, filtered by each field and by several, in pages", async () => {
      const [run, key] = [crypto.randomUUID(), crypto.randomUUID()];
      const ids = await keep([
        { source: "run", run_id: run, position: 0, repeat: 0, deployment: "list-a" },
        { status: "failed", error_category: "timeout", deployment: "list-a" },
        { model: "list-m", api_key_id: key, deployment: "list-a" },
        { model: "list-m", status: "failed", error_category: "upstream", deployment: "list-a" },
        { deployment: "list-b" },
      ]);
      const of = (...places: number[]) => places.map((at) => ids[at] ?? "");
      expect(await listedIds("deployment=list-a")).toEqual(of(3, 2, 1, 0));
      expect(await listedIds("deployment=list-b")).toEqual(of(4));
      expect(await listedIds(`run_id=${run.toUpperCase()}`)).toEqual(of(0));
      expect(await listedIds("source=run&deployment=list-a")).toEqual(of(0));
      expect(await listedIds("status=failed&deployment=list-a")).toEqual(of(3, 1));
      expect(await listedIds("category=timeout&deployment=list-a")).toEqual(of(1));
      expect(await listedIds("model=list-m&status=success")).toEqual(of(2));
      expect(await listedIds(`api_key_id=${key}`)).toEqual(of(2));
      const [from, to] = ["2026-06-01T00:00:01Z", "2026-06-01T00:00:03Z"];
      expect(await listedIds(`deployment=list-a&from=${from}&to=${to}`)).toEqual(of(2, 1));
      const seen: string[] = [];
      for (let query = "deployment=list-a&limit=3"; ; ) {
        const { data, next } = await list(query);
        seen.push(...data.map(({ id }) => id));
        if (next === null) break;
        query = `deployment=list-a&limit=3&after=${next}`;
      }
      expect(seen).toEqual(of(3, 2, 1, 0));
    });

    test("begins with the oldest if asked, page by page", async () => {
      const ids = await keep([{}, {}, {}, {}, {}].map(() => ({ deployment: "oldest" })));
      const seen: string[] = [];
      for (let query = "deployment=oldest&order=oldest&limit=2"; ; ) {
        const { data, next } = await list(query);
        seen.push(...data.map(({ id }) => id));
        if (next === null) break;
        query = `deployment=oldest&order=oldest&limit=2&after=${next}`;
      }
      expect(seen).toEqual(ids);
    });

    test("has the beginning of a live request's action, whatever is in it", async () => {
      const requests = [
        { interaction: { state: 'It says "action": "no".', action: 'say "hi"\n\u0000\ud83d\udeaa now' } },
        { messages: [{ role: "user", content: "open" }], params: { action: "not this" } },
      ];
      await keep(requests.map((request) => ({ deployment: "actions", request: JSON.stringify(request) })));
      const actions = async (limit: number) =>
        (await list(`deployment=actions&text_limit=${limit}`)).data.map(({ action }) => action);
      expect(await actions(100)).toEqual([null, 'say "hi"\n\u0000\ud83d\udeaa now']);
      expect(await actions(5)).toEqual([null, 'say "']);
    });

    test("has the beginning of each text if a length is asked for", async () => {
      await keep([
        { deployment: "texts", output: "Die Tür öffnet sich. 🚪" },
        { deployment: "texts", status: "failed", error_message: "The upstream did not respond." },
      ]);
      const texts = async (query: string) =>
        (await list(`deployment=texts${query}`)).data.map(({ output, error_message }) => [
          output,
          error_message,
        ]);
      expect(await texts("&text_limit=9")).toEqual([
        [null, "The upstr"],
        ["Die Tür ö", null],
      ]);
      expect(await texts("&text_limit=1000&limit=1")).toEqual([[null, "The upstream did not respond."]]);
      expect(await texts("")).toEqual([
        [undefined, undefined],
        [undefined, undefined],
      ]);
      for (const limit of [0, 1001]) {
        const issues = await issuesOf(await presage.call("GET", `/v1/predictions?text_limit=${limit}`));
        expect(issues.map(({ loc }) => loc)).toEqual([["query", "text_limit"]]);
      }
    });

    test("reserves the memory of texts before it reads them", async () => {
      const databaseUrl = await database.create();
      const small = await startPresage({
        PRESAGE_DATABASE_URL: databaseUrl,
        PRESAGE_CAPTURE_MAX_AGE_DAYS: "36500",
        PRESAGE_MEMORY_BUDGET_BYTES: "8388608",
      });
      await using opened = await openStore(databaseUrl);
      await keep(Array<Given>(600).fill({ output: "x" }), opened);
      const statusOf = async (query: string) =>
        (await small.call("GET", `/v1/predictions?limit=600${query}`)).status;
      // Most of the budget is free, but not all.
      const { socket } = await openRawClient(small.url);
      const head = `POST /v1/predict HTTP/1.1\r\nhost: a\r\nx-api-key: ${testKey}\r\ncontent-length: 400000\r\n\r\n`;
      socket.write(head + "x".repeat(200_000));
      const held = () => readMetric(small, "presage_memory_held_bytes");
      expect(await eventually(held, (bytes) => bytes > 1_000_000)).toBeGreaterThan(1_000_000);
      expect(await statusOf("&text_limit=1000")).toBe(503);
      expect(await statusOf("&text_limit=200")).toBe(200);
      expect(await statusOf("")).toBe(200);
      socket.destroy();
      expect(await eventually(held, (bytes) => bytes === 0)).toBe(0);
      expect(await statusOf("&text_limit=1000")).toBe(200);
      await small.stop();
    });

    test("refuses wrong filters", async () => {
      for (const [query, type] of [
        ["source=elsewhere", "literal_error"],
        ["status=maybe", "literal_error"],
        ["category=other", "literal_error"],
        ["from=yesterday", "datetime_parsing"],
        ["limit=0", "greater_than_equal"],
        ["after=x", "value_error"],
        ["model=%00", "value_error"],
        ["error_category=timeout", "extra_forbidden"],
      ] as const) {
        const issues = await issuesOf(await presage.call("GET", `/v1/predictions?${query}`));
        expect(issues.map(({ loc }) => loc)).toEqual([["query", query.split("=")[0] ?? ""]]);
        if (type !== "literal_error" && type !== "datetime_parsing")
          expect(locationsOf(issues)[0]).toMatchObject({ type });
      }
      expect((await presage.call("GET", "/v1/predictions/none")).status).toBe(404);
      expect((await presage.call("GET", "/v1/predictions/%00")).status).toBe(422);
    });
  });

  test("A prediction of a run that is gone has no prompt, and predictions of runs are deleted with their run only", async () => {
    const [id = ""] = await keep([{ source: "run", run_id: crypto.randomUUID(), position: 7, repeat: 0 }]);
    const found = (await (
      await presage.call("GET", `/v1/predictions/${id}`)
    ).json()) as StoredPredictionDetail;
    expect(found).toMatchObject({ source: "run", position: 7, interaction: null, params: null });
    const refused = await remove(`/${id}`);
    expect([refused.status, await refused.json()]).toMatchObject([
      409,
      { detail: "This prediction belongs to a run. Delete the run." },
    ]);
    expect((await presage.call("GET", `/v1/predictions/${id}`)).status).toBe(200);
  });

  test("A deleted prediction is gone, and so is its context once nothing names it", async () => {
    const [one = "", two = ""] = await keep([{ context: "shared" }, { context: "shared" }]);
    expect((await remove(`/${one}`)).status).toBe(204);
    expect((await remove(`/${one}`)).status).toBe(404);
    expect((await presage.call("GET", `/v1/predictions/${one}`)).status).toBe(404);
    expect(await contextsLike("shared")).toBe(1);
    const found = (await (
      await presage.call("GET", `/v1/predictions/${two}`)
    ).json()) as StoredPredictionDetail;
    expect(found.context).toEqual({ environment_state: "shared" });
    expect((await remove(`/${two}`)).status).toBe(204);
    expect(await contextsLike("shared")).toBe(0);
    const payloads = await store.database
      .selectFrom("prediction_payloads")
      .select("prediction_id")
      .where("prediction_id", "in", [one, two])
      .execute();
    expect(payloads).toEqual([]);
  });

  test("Live predictions from before a time are deleted, and nothing else", async () => {
    const old = Array.from({ length: 450 }, (_, at) => ({
      created_at: 1_000_000 + at,
      deployment: "bulk",
      context: `bulk ${at % 3}`,
    }));
    await keep(old);
    const ofRun = { source: "run", run_id: crypto.randomUUID(), position: 0, repeat: 0 } as const;
    const rest = await keep([
      { ...ofRun, created_at: 1_000_000, deployment: "bulk" },
      { created_at: 3_000_000, deployment: "bulk", context: "bulk 0" },
    ]);
    const [stranger = ""] = await keep([
      { created_at: 1_000_000, account_id: "another", deployment: "bulk", context: "bulk 1" },
    ]);
    expect(await removeAll("?source=live&before=1970-01-01T00:00:03Z")).toBe(450);
    expect(await listedIds("deployment=bulk")).toEqual(rest.toReversed());
    const theirs = await store.database
      .selectFrom("predictions")
      .select("id")
      .where("account_id", "=", "another")
      .execute();
    expect(theirs).toEqual([{ id: stranger }]);
    // The contexts of the newer prediction and of the other account's.
    expect(await contextsLike("bulk")).toBe(2);
  });

  test("Predictions are counted and deleted by the same filters", async () => {
    const made = (given: Given, count: number) => Array.from({ length: count }, () => given);
    await keep([
      ...made(
        { deployment: "some", status: "failed", error_category: "timeout", created_at: 5_000_000 },
        230,
      ),
      ...made({ deployment: "some", model: "some-m", created_at: 5_000_000, request_id: "some-r" }, 3),
      { deployment: "some", created_at: 7_000_000 },
    ]);
    const count = async (query: string) => {
      const response = await presage.call("GET", `/v1/predictions/count?${query}`);
      return StoredPredictionCountResponse.parse(await response.json());
    };
    expect(await count("deployment=some")).toEqual({ count: 234, has_more: false });
    expect(await count("deployment=some&status=failed&category=timeout")).toMatchObject({ count: 230 });
    expect(await count("request_id=some-r")).toMatchObject({ count: 3 });
    expect(await listedIds("request_id=some-r&limit=2")).toHaveLength(2);
    expect((await presage.call("GET", "/v1/predictions/count?limit=3")).status).toBe(422);

    const values = await presage.call("GET", "/v1/predictions/values?deployment=some&status=failed");
    const found = StoredPredictionValuesResponse.parse(await values.json());
    // Each filter's own choice does not hide what else could be chosen.
    expect(found.status).toEqual([
      { value: "failed", count: 230 },
      { value: "success", count: 4 },
    ]);
    expect(found.deployment.find(({ value }) => value === "some")).toEqual({ value: "some", count: 230 });
    expect(found.category).toContainEqual({ value: "timeout", count: 230 });
    expect((await presage.call("GET", "/v1/predictions/values?limit=3")).status).toBe(422);

    const before = "source=live&before=1970-01-01T00:00:06Z";
    expect(await removeAll(`?${before}&deployment=some&status=failed`)).toBe(230);
    expect(await count("deployment=some")).toMatchObject({ count: 4 });
    const since = await remove(`?${before}&deployment=some&from=1970-01-01T00:00:05.5Z`);
    expect(await since.json()).toMatchObject({ deleted: 0 });
    await removeAll(`?${before}&deployment=some&model=some-m&request_id=some-r`);
    expect(await count("deployment=some")).toMatchObject({ count: 1 });
  });

  test("Those that succeeded say how long they took, by deployment", async () => {
    const took = (ms: number, given: Given = {}) => ({
      ...{ deployment: "timed", created_at: 5_000_000, latency_micros: ms * 1_000 },
      ...given,
    });
    await keep([
      ...Array.from({ length: 20 }, (_, index) => took(20 - index)),
      took(900, { status: "failed", error_category: "timeout" }),
      took(800, { deployment: "slow" }),
    ]);
    const latency = async (query: string) => {
      const values = await presage.call("GET", `/v1/predictions/values?${query}`);
      return StoredPredictionValuesResponse.parse(await values.json()).latency_ms;
    };
    expect(await latency("deployment=timed")).toEqual({ p50: 10, p95: 19 });
    expect(await latency("deployment=slow")).toEqual({ p50: 800, p95: 800 });
    expect(await latency("deployment=timed&status=failed")).toBeNull();
    expect(await latency("deployment=nobody")).toBeNull();
  });

  test("Deleting many needs to be told which", async () => {
    for (const query of ["", "?source=live", "?before=2026-01-01", "?source=run&before=2026-01-01"]) {
      expect((await remove(query)).status).toBe(422);
    }
    const issues = await issuesOf(await remove("?source=live&before=2026-01-01&run_id=m"));
    expect(locationsOf(issues)).toEqual([{ type: "extra_forbidden", loc: ["query", "run_id"] }]);
  });

  test("A context that is deleted while it is stored again is there afterwards", async () => {
    for (let round = 0; round < 10; round += 1) {
      const [first = ""] = await keep([{ context: "contended" }]);
      const [removed, [second = ""]] = await Promise.all([
        remove(`/${first}`),
        keep([{ context: "contended" }]),
      ]);
      expect(removed.status).toBe(204);
      const found = (await (
        await presage.call("GET", `/v1/predictions/${second}`)
      ).json()) as StoredPredictionDetail;
      expect(found.context).toEqual({ environment_state: "contended" });
      await remove(`/${second}`);
      expect(await contextsLike("contended")).toBe(0);
    }
  });

  test("The same predictions can be stored again, as after a reply that was lost", async () => {
    const id = Bun.randomUUIDv7();
    await keep([{ id, deployment: "twice", context: "twice" }]);
    await keep([{ id, deployment: "twice", context: "twice" }]);
    expect(await listedIds("deployment=twice")).toEqual([id]);
  });

  test("Another account sees neither predictions nor, of its own, the replica", async () => {
    const key = await keyOfAnotherAccount(presage.databaseUrl);
    const whoami = await callWithKey(presage.url, "GET", "/v1/whoami", undefined, { "x-api-key": key });
    const { caller } = (await whoami.json()) as { caller: { api_key: { account: { id: string } } } };
    const replica = "http://10.0.0.1:30000/v1";
    const [ours = "", theirs = ""] = await keep([
      { replica },
      { replica, account_id: caller.api_key.account.id },
    ]);
    const get = (id: string) =>
      callWithKey(presage.url, "GET", `/v1/predictions/${id}`, undefined, { "x-api-key": key });
    expect((await get(ours)).status).toBe(404);
    expect(await (await get(theirs)).json()).toMatchObject({ id: theirs, replica: null });
    const own = (await (
      await presage.call("GET", `/v1/predictions/${ours}`)
    ).json()) as StoredPredictionDetail;
    expect(own.replica).toBe(replica);
  });

  test("Live predictions that are too old are deleted in the background", async () => {
    const url = await database.create();
    await using other = await openStore(url);
    const dayAgo = (days: number) => nowMicros() - days * microsPerDay;
    await keep(
      [
        ...Array.from({ length: 300 }, () => ({ created_at: dayAgo(8), context: "old" })),
        { created_at: dayAgo(6), context: "young" },
        { created_at: dayAgo(8), source: "run", run_id: crypto.randomUUID(), position: 0, repeat: 0 },
      ],
      other,
    );
    const sweeping = await startPresage({ PRESAGE_DATABASE_URL: url, PRESAGE_CAPTURE_MAX_AGE_DAYS: "7" });
    const count = async (table: "predictions" | "prediction_payloads" | "prediction_contexts") =>
      (await other.database.selectFrom(table).selectAll().execute()).length;
    await expectEventually(() => count("predictions"), 2);
    await expectEventually(() => count("prediction_payloads"), 2);
    await expectEventually(() => count("prediction_contexts"), 1);
    await sweeping.stop();
  });
});
