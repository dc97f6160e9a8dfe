import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, expectEventually } from "../support/eventually.ts";
import { startPresage, type TestPresage } from "../support/presage/presage.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { redisProgram, startRedis, type TestRedis } from "../support/redis/start-redis.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

let step = 0;

function newChat() {
  step += 1;
  return { messages: [{ role: "user", content: `Step ${step}: is the door open?` }], temperature: 0 };
}

/** Two processes with one database, one upstream and one Redis. */
describe.skipIf(redisProgram === undefined)("Two processes with one Redis", () => {
  const upstream = useUpstream();
  let directory: string;
  let redis: TestRedis;
  let here: TestPresage;
  let there: SpawnedPresage;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "presage-redis-"));
    redis = await startRedis();
    const environment = {
      PRESAGE_DATABASE_URL: `sqlite:${join(directory, "presage.db")}`,
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_UPSTREAM_MODEL: "test-model",
      PRESAGE_CACHE: "deterministic",
      PRESAGE_CACHE_MAX_AGE_S: "3600",
      PRESAGE_REDIS_URL: redis.url,
    };
    here = await startPresage(environment);
    there = await spawnPresage(environment);
    await bothSee(1);
  });
  afterAll(async () => {
    await here.stop();
    await there[Symbol.asyncDispose]();
    await redis.stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function bothSee(isUp: 0 | 1): Promise<void> {
    for (const presage of [here, there])
      await expectEventually(() => readMetric(presage, "presage_redis_up"), isUp);
  }

  /** The response to a chat in one of the processes: where it is from, and its bytes. */
  async function ask(presage: Pick<TestPresage, "call">, chat: object): Promise<[string | null, string]> {
    const response = await presage.call("POST", "/v1/chat/completions", chat);
    expect(response.status).toBe(200);
    return [response.headers.get("x-presage-cache"), await response.text()];
  }

  const names = async () => (await redis.command("KEYS", "*")) as string[];

  test("ask once: what one was told, the other has, byte for byte, and then by itself", async () => {
    const chat = newChat();
    const [asked, bytes] = await ask(there, chat);
    expect(asked).toBe("miss");
    await expectEventually(async () => (await names()).length, 1);
    expect(await ask(here, chat)).toEqual(["hit", bytes]);
    await redis.command("FLUSHALL");
    expect(await ask(here, chat)).toEqual(["hit", bytes]);
    expect(upstream.received).toHaveLength(1);
  });

  test("store nothing that names the request, for as long as the limit says", async () => {
    await redis.command("FLUSHALL");
    const [, bytes] = await ask(there, newChat());
    await expectEventually(async () => (await names()).length, 1);
    const [name = ""] = await names();
    expect(name).toMatch(/^presage:completion:[\w-]{43}$/);
    expect(await redis.command("TTL", name)).toBeGreaterThan(3500);
    expect(await redis.command("TTL", name)).toBeLessThanOrEqual(3600);
    expect(await redis.command("STRLEN", name)).toBe(8 + bytes.length);
  });

  test("do without what is there in another form", async () => {
    // Eight bytes are the time; a double of `x` lies in the future.
    for (const broken of ["", "short", "x".repeat(100), `${"x".repeat(8)}{"choices":[]}`]) {
      await redis.command("FLUSHALL");
      const chat = newChat();
      await ask(there, chat);
      await expectEventually(async () => (await names()).length, 1);
      await redis.command("SET", String((await names())[0]), broken);
      for (const expected of ["miss", "hit"]) expect((await ask(here, chat))[0]).toBe(expected);
    }
  });

  test("share nothing over a megabyte", async () => {
    await redis.command("FLUSHALL");
    upstream.answer = () => Response.json(completion("x".repeat(1_100_000)));
    const chat = newChat();
    expect((await ask(there, chat))[0]).toBe("miss");
    expect((await ask(there, chat))[0]).toBe("hit");
    upstream.answer = () => Response.json(completion("Short again."));
    await ask(there, newChat());
    await expectEventually(async () => (await names()).length, 1);
    expect((await ask(here, chat))[0]).toBe("miss");
  });

  test("go on without it while it hangs and while it is gone, with one line, and share again after it", async () => {
    const lines = async () =>
      (await there.stdout()).split("\n").filter((line) => line.includes("Redis is")).length;
    redis.freeze();
    try {
      for (let round = 0; round < 30; round++) {
        const chat = newChat();
        for (const presage of [here, there]) expect((await ask(presage, chat))[0]).toBe("miss");
      }
      await expectEventually(lines, 1);
    } finally {
      redis.thaw();
    }
    await redis.stop();
    await bothSee(0);
    const chat = newChat();
    for (const presage of [here, there]) expect((await ask(presage, chat))[0]).toBe("miss");
    await redis.start();
    await bothSee(1);
    const shared = newChat();
    expect((await ask(there, shared))[0]).toBe("miss");
    await expectEventually(async () => (await names()).length, 1);
    expect((await ask(here, shared))[0]).toBe("hit");
    expect(await there.stdout()).not.toContain(new URL(redis.url).password);
    // It was back for a moment between hanging and stopping, or was not.
    const count = await eventually(lines, (all) => all === 2 || all === 4);
    expect([2, 4]).toContain(count);
  });
});
