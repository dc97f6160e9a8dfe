import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { testKey } from "../../support/presage/presage.ts";
import { type SpawnedPresage, spawnPresage } from "../../support/presage/spawn-presage.ts";
import { pythonWithAiohttp } from "../../support/python/python-with-aiohttp.ts";
import { completion } from "../../support/upstream/upstream.ts";
import { useUpstream } from "../../support/upstream/use-upstream.ts";

const script = join(import.meta.dir, "../../../../../examples/rollouts.py");
const upstream = useUpstream();

describe.skipIf(pythonWithAiohttp === undefined)("examples/rollouts.py", () => {
  let presage: SpawnedPresage;
  beforeAll(async () => {
    presage = await spawnPresage({
      PRESAGE_DATABASE_URL: "sqlite::memory:",
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_UPSTREAM_RETRIES: "0",
    });
  });
  afterAll(() => presage[Symbol.asyncDispose]());

  async function play(rollouts: number, key = testKey) {
    const child = Bun.spawn([pythonWithAiohttp ?? "", script, presage.url, String(rollouts)], {
      env: { PATH: process.env.PATH ?? "", PRESAGE_API_KEY: key },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { stdout, stderr, code: await child.exited };
  }

  test("has all rollouts in flight at once, and retries what may succeed, not before Retry-After", async () => {
    const rollouts = 600;
    const all = Promise.withResolvers<void>();
    let firstSteps = 0;
    let refusedAtMs = 0;
    const pausesMs: number[] = [];
    upstream.answer = async ({ text }) => {
      if (!text.includes("open fridge")) return Response.json(completion("Done."));
      firstSteps += 1;
      const number = firstSteps;
      if (number > rollouts) {
        pausesMs.push(performance.now() - refusedAtMs);
        return Response.json(completion("Open."));
      }
      // No first step is answered before all have arrived.
      if (number === rollouts) {
        refusedAtMs = performance.now();
        all.resolve();
      }
      await all.promise;
      if (number > 40) return Response.json(completion("Open."));
      const status = number > 20 ? 429 : 503;
      return Response.json({ error: { message: "busy" } }, { status, headers: { "retry-after": "1" } });
    };
    const { stdout, stderr, code } = await play(rollouts);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^600 rollouts in [\d.]+ s, 0 failed, retries: \{.+\}\n$/);
    expect(stdout).toContain("'429': 20");
    expect(stdout).toContain("'503': 20");
    expect(code).toBe(0);
    expect(pausesMs).toHaveLength(40);
    expect(Math.min(...pausesMs)).toBeGreaterThanOrEqual(990);
  });

  test("does not repeat what cannot succeed, and says why it failed", async () => {
    upstream.received.length = 0;
    upstream.answer = () => Response.json({ error: { message: "no" } }, { status: 400 });
    const { stdout, stderr, code } = await play(3);
    expect(stdout).toContain("3 rollouts in");
    expect(stderr).toContain('3 × 502: {"detail":"The upstream failed the request."');
    expect(code).toBe(1);
    expect(upstream.received).toHaveLength(3);
    const stranger = await play(2, "wrong");
    expect([stranger.stderr, stranger.code]).toEqual([expect.stringContaining("2 × 401: "), 1]);
  });
});
