import type { Result } from "ioredis";
import type { Redis } from "../connect-redis.ts";
import { type Bucket, type createTokenBuckets, type TakeTokens, waitForToken } from "./token-buckets.ts";

declare module "ioredis" {
  interface RedisCommander<Context> {
    presageTakeTokens(keyCount: number, ...keysAndRates: (string | number)[]): Result<string[], Context>;
  }
}

/**
 * Keys: the buckets; arguments: their tokens per minute. Takes a token from each, or from none if one is empty, by the clock of
 * Redis. Returns the tokens before. A bucket that is not there is full, as it is after a minute without use.
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

export interface SharedTokenBucketOptions {
  redis: Redis;
  /** Before the id of each bucket in Redis. */
  prefix: string;
  /** This process's, for when Redis does not answer. */
  own: ReturnType<typeof createTokenBuckets>;
  /** How many processes share the buckets. */
  processes(): number;
  /** Counts each taking, by whose buckets decided. */
  count(decidedBy: "shared" | "own"): void;
}

/**
 * Buckets in Redis, one for all processes. While it does not answer, each process takes from its own, which have its share of the
 * tokens: one part of as many as there are processes.
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
    // What this process takes from all counts as its own, so that its share is not full again when Redis goes.
    if (taken === 1) own.take(buckets, 1 / processes());
    return buckets.map(({ perMinute }, index) => {
      const left = tokens[index] ?? 0;
      return { tokens: left - taken, waitMs: waitForToken(left, perMinute) };
    });
  };
}

/** Whether a reply has the tokens of each bucket, as texts. */
function areTokensOf(buckets: readonly Bucket[], reply: unknown): reply is string[] {
  if (!Array.isArray(reply) || reply.length !== buckets.length) return false;
  return buckets.every(({ perMinute }, index) => {
    const tokens: unknown = reply[index];
    return typeof tokens === "string" && /^\d/.test(tokens) && Number(tokens) <= perMinute;
  });
}
