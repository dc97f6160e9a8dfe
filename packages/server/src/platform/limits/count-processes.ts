import type { Result } from "ioredis";
import type { Redis } from "../connect-redis.ts";

declare module "ioredis" {
  interface RedisCommander<Context> {
    presageSeeProcess(key: string, processId: string, seenForMs: number): Result<number, Context>;
  }
}

const seenEveryMs = 2_000;
const seenForMs = 60_000;

/** Notes that a process was seen, forgets those that were not for a while, and counts the rest, by the clock of Redis. */
const seeProcess = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZADD", KEYS[1], now, ARGV[1])
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now - ARGV[2])
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return redis.call("ZCARD", KEYS[1])
`;

export interface ProcessCount {
  /** Processes that were seen in the last minute, this one included; while Redis is gone, the last known number. */
  count(): number;
  /** Removes this process from the count of others. */
  stop(): Promise<void>;
}

/** Shows this process to others under a key in Redis every two seconds, and counts them. */
export function countProcesses(redis: Redis, key: string): ProcessCount {
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
    count: () => count,
    async stop() {
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
