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

  /** The response to a chat in one of the processes: where it came from, and its bytes. */
  async function ask(presage: Pick<TestPresage, "call">, chat: object): Promise<[string | null, string]> {
    const response = await presage.call("POST", "/v1/chat/completions", chat);
    expect(response.status).toBe(200);
    return [response.headers.get("x-presage-cache"), await response.text()];
  }

  const names = async () => (await redis.command("KEYS", "*")) as string[];
  /** A busy machine may miss the 50 ms that a process waits for Redis, so each check is tried several times. */
  const attempts = 10;

  /** A chat that one process has asked, and that is the only entry in Redis. */
  async function storeOne(): Promise<{ chat: object; bytes: string; name: string }> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      await redis.command("FLUSHALL");
      const chat = newChat();
      const [, bytes] = await ask(there, chat);
      const [name] = await eventually(names, (all) => all.length > 0);
      if (name !== undefined) return { chat, bytes, name };
    }
    throw new Error("nothing was stored in Redis");
  }

  /** A chat that one process has asked, and that the other one answered without the upstream. */
  async function shareOne(): Promise<{ chat: object; bytes: string }> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const { chat, bytes } = await storeOne();
      const asked = upstream.received.length;
      const [from, again] = await ask(here, chat);
      if (from !== "hit") continue;
      expect(again).toBe(bytes);
      expect(upstream.received).toHaveLength(asked);
      return { chat, bytes };
    }
    throw new Error("nothing was shared");
  }

  test("ask once: what one was told, the other has, byte for byte, and then by itself", async () => {
    const { chat, bytes } = await shareOne();
    await redis.command("FLUSHALL");
    expect(await ask(here, chat)).toEqual(["hit", bytes]);
  });

  test("store nothing that names the request, for as long as the limit says", async () => {
    const { name, bytes } = await storeOne();
    expect(name).toMatch(/^presage:completion:[\w-]{43}$/);
    expect(await redis.command("TTL", name)).toBeGreaterThan(3500);
    expect(await redis.command("TTL", name)).toBeLessThanOrEqual(3600);
    expect(await redis.command("STRLEN", name)).toBe(24 + bytes.length);
  });

  test("do without what is there in another form", async () => {
    const forged = JSON.stringify(completion("Forged."));
    // Before there were MACs, an entry began with eight bytes of time; `x` bytes as a double are in the future.
    for (const broken of ["", "short", "x".repeat(100), "x".repeat(8) + forged, "x".repeat(24) + forged]) {
      const { chat, name } = await storeOne();
      await redis.command("SET", name, broken);
      for (const expected of ["miss", "hit"]) expect((await ask(here, chat))[0]).toBe(expected);
      // The completion is stored again after the response; otherwise the next round might find this name.
      await eventually(
        () => redis.command("STRLEN", name),
        (length) => length !== broken.length,
        2_000,
      );
    }
  });

  test("do without what is there as another type", async () => {
    const { chat, name } = await storeOne();
    await redis.command("DEL", name);
    await redis.command("RPUSH", name, "a");
    expect((await ask(here, chat))[0]).toBe("miss");
  });

  test("never have the completion of another request, wherever it is stored", async () => {
    const first = await storeOne();
    const second = await storeOne();
    await redis.command("COPY", second.name, first.name);
    const asked = upstream.received.length;
    expect((await ask(here, first.chat))[0]).toBe("miss");
    expect(upstream.received).toHaveLength(asked + 1);
  });

  test("share nothing over a megabyte", async () => {
    upstream.answer = () => Response.json(completion("x".repeat(1_100_000)));
    const chat = newChat();
    expect((await ask(there, chat))[0]).toBe("miss");
    expect((await ask(there, chat))[0]).toBe("hit");
    upstream.answer = () => Response.json(completion("Short again."));
    expect((await ask(here, chat))[0]).toBe("miss");
    // This uses the same connection, so it comes afterwards.
    await ask(there, newChat());
    for (const name of await eventually(names, (all) => all.length > 0))
      expect(await redis.command("STRLEN", name)).toBeLessThan(1_000);
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
    await shareOne();
    expect(await there.stdout()).not.toContain(new URL(redis.url).password);
    // Redis may have been back for a moment between hanging and stopping.
    const count = await eventually(lines, (all) => all === 2 || all === 4);
    expect([2, 4]).toContain(count);
  });
});
