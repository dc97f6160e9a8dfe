import type { Result } from "ioredis";
import { LRUCache } from "lru-cache";
import type { Redis } from "../redis.ts";
import { lruLimit } from "../words.ts";

declare module "ioredis" {
  interface RedisCommander<Context> {
    presageSeeProcess(key: string, processId: string, seenForMs: number): Result<number, Context>;
  }
}

const seenEveryMs = 2_000;
const seenForMs = 60_000;

/** Notes that a process was seen, forgets those not seen for a while, and counts the rest, by the clock of Redis. */
const seeProcess = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZADD", KEYS[1], now, ARGV[1])
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now - ARGV[2])
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return redis.call("ZCARD", KEYS[1])
`;

/** Announces this process under a key in Redis every two seconds, and counts the processes there. */
export function countProcesses(redis: Redis, key: string) {
  const { client } = redis;
  client.defineCommand("presageSeeProcess", { lua: seeProcess, numberOfKeys: 1 });
  const processId = Bun.randomUUIDv7();
  let count = 1;

  async function see(): Promise<void> {
    count = (await redis.ask(() => client.presageSeeProcess(key, processId, seenForMs), isCount)) ?? count;
  }

  const timer = setInterval(see, seenEveryMs);
  client.on("ready", see);
  void see();
  return {
    /** Processes seen in the last minute, including this one; while Redis is unavailable, the last known number. */
    count: () => count,
    /** Removes this process from the others' counts. */
    async stop(): Promise<void> {
      clearInterval(timer);
      client.off("ready", see);
      await redis.ask(
        () => client.zrem(key, processId),
        (reply) => typeof reply === "number",
      );
    },
  };
}

function isCount(reply: unknown): reply is number {
  return Number.isSafeInteger(reply) && Number(reply) > 0;
}

const maxBuckets = 300_000;
const minuteMs = 60_000;

/** A bucket with room for one minute's tokens. */
export interface Bucket {
  id: string;
  perMinute: number;
}

export interface BucketState {
  /** Tokens left after the take, including fractions. */
  tokens: number;
  /** Time until a token is available; 0 if one was. */
  waitMs: number;
}

/** Takes a token from each bucket, or from none of them if one is empty. The states are in the order of the buckets. */
export type TakeTokens = (buckets: readonly Bucket[]) => BucketState[] | Promise<BucketState[]>;

interface Filled {
  tokens: number;
  filledAtMs: number;
}

/**
 * Buckets in this process's memory. With a `share` below 1 they fill that much slower and hold that much less, but always at least
 * one token: a rate of one per minute, shared by four processes, still lets each have one in four minutes.
 */
export function createTokenBuckets() {
  const buckets = new LRUCache<string, Filled>(lruLimit(maxBuckets));

  function fill({ id, perMinute }: Bucket, share: number, nowMs: number): Filled {
    const capacity = Math.max(1, perMinute * share);
    const known = buckets.get(id);
    if (known === undefined) {
      const full = { tokens: capacity, filledAtMs: nowMs };
      buckets.set(id, full);
      return full;
    }
    const refill = ((nowMs - known.filledAtMs) / minuteMs) * perMinute * share;
    known.tokens = Math.min(capacity, known.tokens + refill);
    known.filledAtMs = nowMs;
    return known;
  }

  return {
    take(wanted: readonly Bucket[], share = 1): BucketState[] {
      const nowMs = performance.now();
      const filled = wanted.map((bucket) => fill(bucket, share, nowMs));
      const taken = filled.every(hasToken) ? 1 : 0;
      return filled.map((bucket, index) => {
        const waitMs = waitForToken(bucket.tokens, (wanted[index]?.perMinute ?? 1) * share);
        bucket.tokens -= taken;
        return { tokens: bucket.tokens, waitMs };
      });
    },
  };
}

function hasToken({ tokens }: Filled): boolean {
  return tokens >= 1;
}

/** Time until a bucket with this many tokens has a whole one. */
function waitForToken(tokens: number, perMinute: number): number {
  return tokens >= 1 ? 0 : ((1 - tokens) / perMinute) * minuteMs;
}

declare module "ioredis" {
  interface RedisCommander<Context> {
    presageTakeTokens(keyCount: number, ...keysAndRates: (string | number)[]): Result<string[], Context>;
  }
}

/**
 * Keys: the buckets; arguments: their tokens per minute. Takes a token from each, or from none if one is empty, by the clock of
 * Redis. Returns the tokens from before. A missing bucket is full, as any bucket is after a minute without use.
 */
const takeTokens = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local before, isTaken = {}, 1
for i, key in ipairs(KEYS) do
  local perMinute = tonumber(ARGV[i])
  local known = redis.call("HMGET", key, "tokens", "at")
  local tokens = perMinute
  if known[1] and known[2] then
    tokens = math.min(perMinute, known[1] + math.max(0, now - known[2]) / 60000 * perMinute)
  end
  before[i] = tostring(tokens)
  if tokens < 1 then isTaken = 0 end
end
for i, key in ipairs(KEYS) do
  redis.call("HSET", key, "tokens", before[i] - isTaken, "at", now)
  redis.call("PEXPIRE", key, 60000)
end
return before
`;

interface SharedTokenBucketOptions {
  redis: Redis;
  /** The prefix of each bucket's id in Redis. */
  prefix: string;
  /** This process's own buckets, for when Redis does not answer. */
  own: ReturnType<typeof createTokenBuckets>;
  /** How many processes share the buckets. */
  processes(): number;
  /** Counts each take by which buckets decided it. */
  count(decidedBy: "shared" | "own"): void;
}

/**
 * Buckets in Redis, shared by all processes. While Redis does not answer, each process takes from its own buckets, which have its
 * equal share of the tokens.
 */
export function createSharedTokenBuckets(options: SharedTokenBucketOptions): TakeTokens {
  const { redis, prefix, own, processes, count } = options;
  redis.client.defineCommand("presageTakeTokens", { lua: takeTokens });

  return async (buckets) => {
    const keys = buckets.map(({ id }) => prefix + id);
    const rates = buckets.map(({ perMinute }) => perMinute);
    const before = await redis.ask(
      (client) => client.presageTakeTokens(keys.length, ...keys, ...rates),
      (reply) => areTokensOf(buckets, reply),
    );
    count(before === undefined ? "own" : "shared");
    if (before === undefined) return own.take(buckets, 1 / processes());
    const tokens = before.map(Number);
    const taken = tokens.every((left) => left >= 1) ? 1 : 0;
    // Shared tokens that this process takes also count against its own buckets, so that those are not full when Redis goes away.
    if (taken === 1) own.take(buckets, 1 / processes());
    return buckets.map(({ perMinute }, index) => {
      const left = tokens[index] ?? 0;
      return { tokens: left - taken, waitMs: waitForToken(left, perMinute) };
    });
  };
}

/** Whether a reply has the tokens of each bucket, as strings. */
function areTokensOf(buckets: readonly Bucket[], reply: unknown): reply is string[] {
  if (!Array.isArray(reply) || reply.length !== buckets.length) return false;
  return buckets.every(({ perMinute }, index) => {
    const tokens: unknown = reply[index];
    return typeof tokens === "string" && /^\d/.test(tokens) && Number(tokens) <= perMinute;
  });
}
