import { afterAll, beforeAll, expect, test } from "bun:test";
import { testKey } from "../support/presage/presage.ts";
import { chatRequest, prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { startLightUpstream } from "../support/upstream/start-light-upstream.ts";

const firstRequests = 8_000;
const allRequests = 32_000;
const concurrency = 64;
const allowedGrowth = 1.2;

let upstream: Awaited<ReturnType<typeof startLightUpstream>>;
beforeAll(async () => {
  upstream = await startLightUpstream();
});
afterAll(() => upstream.stop());

const predictBody = JSON.stringify(prediction);
const chatBody = JSON.stringify(chatRequest);

/** Mostly predictions; some calls are invalid, each in a unique way, so that caching them would show. */
function callNumber(number: number) {
  const path = number % 2 === 0 ? "/v1/predict" : "/v1/chat/completions";
  const body = number % 2 === 0 ? predictBody : chatBody;
  if (number % 20 === 7) return { path, body, key: `key-that-nobody-has-${number}`, expected: 401 };
  if (number % 20 === 13) return { path: `/nothing/${number}`, body, key: testKey, expected: 404 };
  if (number % 20 === 17) return { path, body: `{"field-${number}":1}`, key: testKey, expected: 422 };
  return { path, body, key: testKey, expected: 200 };
}

/** Calls over kept-alive connections, and returns how many got an unexpected status. */
async function load({ url }: SpawnedPresage, count: number): Promise<number> {
  let [left, wrong] = [count, 0];
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const { path, body, key, expected } = callNumber(left);
      const response = await fetch(url + path, { method: "POST", headers: { "x-api-key": key }, body });
      await response.arrayBuffer();
      if (response.status !== expected) wrong += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return wrong;
}

/** The server's lowest memory in the seconds after a load; on a busy machine it takes longer until freed memory is given back. */
async function settledMemory(presage: SpawnedPresage, expected = Number.POSITIVE_INFINITY): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY;
  for (let second = 0; second < 5 || (lowest >= expected && second < 30); second++) {
    await Bun.sleep(1_000);
    lowest = Math.min(lowest, await readMetric(presage, "process_resident_memory_bytes"));
  }
  return lowest;
}

test("after 32,000 requests the memory is back where it was after the first 8,000", async () => {
  await using presage = await spawnPresage({
    PRESAGE_DATABASE_URL: "sqlite:presage.db",
    PRESAGE_UPSTREAM_URL: upstream.url,
    // `settle-runtime.ts` sets this outside of tests; without it, garbage grows with the machine's memory.
    BUN_JSC_forceRAMSize: "301989888",
  });
  expect(await load(presage, firstRequests)).toBe(0);
  const early = await settledMemory(presage);
  expect(await load(presage, allRequests - firstRequests)).toBe(0);
  const late = await settledMemory(presage, early * allowedGrowth);
  expect(late).toBeLessThan(early * allowedGrowth);
}, 180_000);
