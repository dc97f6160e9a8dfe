import { expect, test } from "bun:test";
import { readConfig } from "../config/config.ts";
import { type LimitHolders, noKeyLimits } from "../platform/limits/admission.ts";
import { createMetrics } from "../platform/observability/metrics.ts";
import { connectRedis } from "../platform/redis.ts";
import { composeLimits } from "./compose-deployments.ts";

const holders: LimitHolders = {
  keyOrUserId: "key",
  userId: "user",
  accountId: "account",
  keyLimits: noKeyLimits,
};

test("a worker that has never reached Redis allows its share of a rate", async () => {
  const redis = connectRedis("redis://127.0.0.1:1", { info() {}, warn() {} });
  const config = readConfig({ PRESAGE_RATE_LIMIT_RPM: "4", PRESAGE_REDIS_URL: "redis://127.0.0.1:1" });
  const { predictions, stop } = composeLimits(
    { ...config, workers: { count: 4, index: 0 } },
    { redis, keyDigest: () => "0".repeat(64), metrics: createMetrics() },
  );
  try {
    expect(await predictions.admit(holders)).toMatchObject({ limit: 4, remaining: 0 });
    await expect(Promise.resolve(predictions.admit(holders))).rejects.toThrow("At most 4");
  } finally {
    await stop();
    redis.stop();
  }
});
