import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ApiKeyCreateResponse } from "@presage/contract";
import {
  countProcesses,
  createSharedTokenBuckets,
  createTokenBuckets,
} from "../../../src/platform/limits/token-buckets.ts";
import { connectRedis, type Redis } from "../../../src/platform/redis.ts";
import { expectEventually } from "../../support/eventually.ts";
import { testKey } from "../../support/presage/presage.ts";
import { prediction } from "../../support/presage/presage-with-raw-upstream.ts";
import { readMetric } from "../../support/presage/read-metric.ts";
import { type SpawnedPresage, spawnPresage } from "../../support/presage/spawn-presage.ts";
import { redisProgram, startRedis, type TestRedis } from "../../support/redis/start-redis.ts";
import { createPostgresDatabase } from "../../support/store/databases.ts";

describe.skipIf(redisProgram === undefined)("With Redis", () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  describe("two processes", () => {
    const perMinute = 100;
    let both: SpawnedPresage[] = [];
    beforeAll(async () => {
      const environment = {
        PRESAGE_DATABASE_URL: await createPostgresDatabase(),
        PRESAGE_REDIS_URL: server.url,
        PRESAGE_RATE_LIMIT_RPM: String(perMinute),
        PRESAGE_EVALUATE_RPM: "40",
      };
      both = await Promise.all([spawnPresage(environment), spawnPresage(environment)]);
      for (const one of both) await expectEventually(() => readMetric(one, "presage_processes"), 2);
    });
    afterAll(async () => {
      for (const one of both) await one[Symbol.asyncDispose]();
    });

    async function createKey(limits: object = {}): Promise<string> {
      const response = await both[0]?.call("POST", "/v1/api-keys", { name: "of a test", ...limits });
      return ApiKeyCreateResponse.parse(await response?.json()).key;
    }

    /** Calls both in turn, a few at a time, and counts the responses by status. */
    async function callBoth(count: number, key: string, path = "/v1/predict", body: unknown = prediction) {
      const statuses: Record<number, number> = {};
      const calls = Array.from({ length: count }, (_, index) => both[index % 2]);
      const callNext = async (): Promise<void> => {
        for (let one = calls.pop(); one !== undefined; one = calls.pop()) {
          const { status } = await one.call("POST", path, body, { "x-api-key": key });
          statuses[status] = (statuses[status] ?? 0) + 1;
        }
      };
      await Promise.all([callNext(), callNext(), callNext(), callNext()]);
      return statuses;
    }

    const decided = async (by: "shared" | "own") => {
      const metric = `presage_rate_checks_total{decided_by="${by}"}`;
      const counts = await Promise.all(both.map((one) => readMetric(one, metric)));
      return counts.reduce((sum, count) => sum + (count || 0), 0);
    };

    test("share one rate: a hundred a minute are a hundred in both together", async () => {
      const key = await createKey();
      const [startedAtMs, ownBefore] = [performance.now(), await decided("own")];
      const { 200: allowed = 0, ...refused } = await callBoth(250, key);
      expect(Object.keys(refused)).toEqual(["429"]);
      const cameInMeanwhile = Math.ceil(((performance.now() - startedAtMs) / 60_000) * perMinute);
      // If the machine is so busy that Redis does not answer within 50 ms, a process decides by itself.
      const byThemselves = (await decided("own")) - ownBefore;
      expect(allowed).toBeWithin(perMinute - byThemselves, perMinute + cameInMeanwhile + byThemselves + 1);
      expect(await decided("shared")).toBeGreaterThan(50);
    });

    test("share a key's own rate and an account's rate of evaluations", async () => {
      /** Each process alone would allow as many. A few are decided without Redis if it responds late, and tokens refill meanwhile. */
      const expectShared = async (limit: number, call: () => Promise<number>) => {
        const startedAtMs = performance.now();
        const allowed = await call();
        const cameInMeanwhile = ((performance.now() - startedAtMs) / 60_000) * limit;
        expect(allowed).toBeWithin(0.8 * limit, 1.6 * limit + cameInMeanwhile);
      };
      const key = await createKey({ rate_limit_rpm: 40 });
      await expectShared(40, async () => (await callBoth(100, key))[200] ?? 0);
      const evaluation = {
        evaluators: [{ evaluator: "exact-match" }],
        evaluated_model_output: "a",
        evaluated_model_gold_answer: "a",
        capture: "none",
      };
      const [one, other] = [await createKey(), await createKey()];
      await expectShared(40, async () => {
        let allowed = 0;
        for (const used of [one, other])
          allowed += (await callBoth(50, used, "/v1/evaluate", evaluation))[200] ?? 0;
        return allowed;
      });
    });

    test("apply a key's changed limits within seconds, whichever process changed them", async () => {
      const [one, other] = both;
      const made = await one?.call("POST", "/v1/api-keys", { name: "of a test", rate_limit_rpm: 1 });
      const { key, id } = ApiKeyCreateResponse.parse(await made?.json());
      const predict = async () =>
        (await other?.call("POST", "/v1/predict", prediction, { "x-api-key": key }))?.status;
      expect(await predict()).toBe(200);
      expect(await predict()).toBe(429);
      await one?.call("PATCH", `/v1/api-keys/${id}`, { rate_limit_rpm: 60_000 });
      await expectEventually(predict, 200);
    });

    test("each have half of the rate while Redis is gone, without any 5xx, and share it again afterwards", async () => {
      const [before, during] = [await createKey(), await createKey()];
      await callBoth(20, before);
      await server.stop();
      const startedAtMs = performance.now();
      const { 200: allowed = 0, 429: refused = 0, ...others } = await callBoth(150, during);
      expect(others).toEqual({});
      expect(refused).toBeGreaterThan(0);
      const cameInMeanwhile = 2 * Math.ceil(((performance.now() - startedAtMs) / 60_000) * perMinute);
      expect(allowed).toBeWithin(perMinute, perMinute + cameInMeanwhile + 1);
      // Requests that it used before the outage are not given back.
      const { 200: rest = 0 } = await callBoth(150, before);
      expect(rest).toBeLessThan(perMinute);
      for (const one of both) {
        expect((await one.stdout()).match(/Redis is unavailable/g)).toHaveLength(1);
        expect(await readMetric(one, "presage_redis_up")).toBe(0);
      }
      await server.start();
      for (const one of both) await expectEventually(() => readMetric(one, "presage_redis_up"), 1);
      const sharedBefore = await decided("shared");
      await callBoth(10, await createKey());
      expect(await decided("shared")).toBeGreaterThan(sharedBefore);
    });

    test("go on while Redis hangs", async () => {
      server.freeze();
      try {
        expect(await callBoth(20, await createKey())).toEqual({ 200: 20 });
      } finally {
        server.thaw();
      }
      for (const one of both) await expectEventually(() => readMetric(one, "presage_redis_up"), 1);
    });

    test("keep nothing in Redis for longer than a minute, and never a key", async () => {
      await callBoth(2, testKey);
      const names = (await server.command("KEYS", "*")) as string[];
      expect(names.length).toBeGreaterThan(1);
      for (const name of names) {
        expect(name).toMatch(/^presage:[\w+/-]{16}:(processes|rate:(prediction|evaluation)\/)/);
        expect(name).not.toContain(testKey);
        expect(await server.command("PTTL", name)).toBeWithin(1, 60_001);
      }
    });

    test("that are one after the other is stopped leave it the whole rate", async () => {
      const [one, other] = both;
      other?.kill("SIGTERM");
      await other?.exited;
      if (one !== undefined) await expectEventually(() => readMetric(one, "presage_processes"), 1);
    });
  });

  describe("a bucket", () => {
    let redis: Redis;
    let decidedBy: string[] = [];
    beforeAll(async () => {
      redis = connectRedis(server.url, { info() {}, warn() {} });
      await expectEventually(redis.isUp, true);
    });
    afterAll(() => redis.stop());

    function sharedBuckets(processes = 1) {
      decidedBy = [];
      const prefix = `${crypto.randomUUID()}:`;
      return createSharedTokenBuckets({
        redis,
        prefix,
        own: createTokenBuckets(),
        processes: () => processes,
        count: (by) => decidedBy.push(by),
      });
    }

    test("is charged only if all others of the request have a token", async () => {
      const take = sharedBuckets();
      const [key, user] = [
        { id: "key", perMinute: 5 },
        { id: "user", perMinute: 1 },
      ];
      expect(await take([key, user])).toMatchObject([{ waitMs: 0 }, { waitMs: 0 }]);
      const refused = await take([key, user]);
      expect(refused.map(({ tokens }) => Math.floor(tokens))).toEqual([4, 0]);
      expect(refused[0]?.waitMs).toBe(0);
      expect(refused[1]?.waitMs).toBeWithin(1, 60_001);
      expect(Math.floor((await take([key]))[0]?.tokens ?? 0)).toBe(3);
      expect(decidedBy).toEqual(["shared", "shared", "shared"]);
    });

    test("refills evenly, up to a minute's tokens", async () => {
      const take = sharedBuckets();
      const bucket = { id: "fast", perMinute: 1_200 };
      const results = await Promise.all(Array.from({ length: 1_300 }, () => take([bucket])));
      expect(results.filter(([state]) => state?.waitMs === 0).length).toBeWithin(1_200, 1_301);
      await expectEventually(async () => (await take([bucket]))[0]?.waitMs, 0);
      const [lowered] = await take([{ ...bucket, perMinute: 2 }]);
      expect(lowered?.tokens).toBeLessThanOrEqual(2);
    });

    test("of which each process has a share holds at least one token", async () => {
      const take = sharedBuckets(4);
      const bucket = { id: "rare", perMinute: 2 };
      await server.command("CLIENT", "PAUSE", "2000", "ALL");
      expect(await take([bucket])).toMatchObject([{ waitMs: 0 }]);
      const [refused] = await take([bucket]);
      expect(refused?.waitMs).toBeWithin(60_000, 120_001);
      expect(decidedBy).toEqual(["own", "own"]);
    });
  });

  test("processes are counted once each, and again when Redis lost them", async () => {
    const redis = connectRedis(server.url, { info() {}, warn() {} });
    await expectEventually(redis.isUp, true);
    const [one, other] = [countProcesses(redis, "processes"), countProcesses(redis, "processes")];
    await expectEventually(one.count, 2);
    await server.command("DEL", "processes");
    // A process that was last seen more than a minute ago.
    await server.command("ZADD", "processes", String(Date.now() - 61_000), "killed");
    await expectEventually(() => server.command("ZCARD", "processes"), 2);
    await other.stop();
    await expectEventually(one.count, 1);
    await one.stop();
    redis.stop();
  });
});
