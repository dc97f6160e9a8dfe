import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

/** How long a revocation takes to reach every process. */
const promisedMs = 5_000;

onAnyDatabase((database) => {
  let environment: Record<string, string>;
  let one: SpawnedPresage;
  let other: SpawnedPresage;
  const inOne = apiKeyClient(() => one);
  const inOther = apiKeyClient(() => other);

  beforeAll(async () => {
    environment = { PRESAGE_DATABASE_URL: await database.create() };
    [one, other] = await Promise.all([spawnPresage(environment), spawnPresage(environment)]);
  }, 300_000);
  afterAll(async () => {
    for (const server of [one, other]) await server?.[Symbol.asyncDispose]();
  });

  /** Uses a key on a server in a loop, so that it is cached there, and returns when it was first rejected. */
  function useUntilRefused(
    client: typeof inOne,
    key: string,
  ): { uses: () => number; refusedAtMs: Promise<number> } {
    let uses = 0;
    const refusedAtMs = (async () => {
      const startedAtMs = performance.now();
      while ((await client.use(key)) === 200) {
        uses += 1;
        if (performance.now() - startedAtMs > 30_000) return Number.POSITIVE_INFINITY;
        await Bun.sleep(20);
      }
      return performance.now();
    })();
    return { uses: () => uses, refusedAtMs };
  }

  async function expectRefusedEverywhere(key: string): Promise<void> {
    for (const client of [inOne, inOther])
      expect(await Promise.all(Array.from({ length: 10 }, () => client.use(key)))).toEqual(
        Array(10).fill(401),
      );
  }

  test.concurrent("a key created in one works immediately in the other, even if it was rejected there before", async () => {
    for (let round = 0; round < 10; round++) {
      const { id, key } = await inOne.create(`round ${round}`);
      expect(await inOther.use(key)).toBe(200);
      expect((await inOther.list()).map((listed) => listed.id)).toContain(id);
    }
    const environmentOfTheFuture = {
      ...environment,
      PRESAGE_BOOTSTRAP_KEY: "a-key-that-comes-to-be-later-0123456789",
    };
    const later = environmentOfTheFuture.PRESAGE_BOOTSTRAP_KEY;
    expect(await inOther.use(later)).toBe(401);
    await using third = await spawnPresage(environmentOfTheFuture);
    expect(await apiKeyClient(() => third).use(later)).toBe(200);
    expect(await inOther.use(later)).toBe(200);
  });

  test.concurrent("a key revoked in one is rejected in the other within 5 s, even if in use there", async () => {
    const { id, key } = await inOne.create("in use in the other");
    const use = useUntilRefused(inOther, key);
    await eventually(use.uses, (uses) => uses > 20);
    const revokedAtMs = performance.now();
    expect(await inOne.revoke(id)).toBe(204);
    expect(await inOne.use(key)).toBe(401);
    expect((await use.refusedAtMs) - revokedAtMs).toBeLessThan(promisedMs);
    expect(use.uses()).toBeGreaterThan(20);
    await expectRefusedEverywhere(key);
  });

  test.concurrent("a key revoked in one is rejected in the other after 5 s, even if unused meanwhile", async () => {
    const { id, key } = await inOne.create("known to the other");
    expect(await inOther.use(key)).toBe(200);
    expect(await inOne.revoke(id)).toBe(204);
    // Waits for the promised time; a use in the meantime would refresh what the other process knows of the key.
    await Bun.sleep(promisedMs);
    await expectRefusedEverywhere(key);
  });

  test.concurrent("a key revoked on the command line is rejected in both within 5 s", async () => {
    const { id, key } = await inOne.create("in use in both");
    const uses = [useUntilRefused(inOne, key), useUntilRefused(inOther, key)];
    for (const use of uses) await eventually(use.uses, (count) => count > 20);
    const { code, stdout, stderr } = await runPresage(["keys", "revoke", id.toUpperCase()], environment);
    const revokedAtMs = performance.now();
    expect([code, stdout, stderr]).toEqual([0, "Revoked.\n", ""]);
    for (const use of uses) expect((await use.refusedAtMs) - revokedAtMs).toBeLessThan(promisedMs);
    await expectRefusedEverywhere(key);
  });

  test.concurrent("a key created on the command line works immediately in both, and expires as stated there", async () => {
    const made = await runPresage(["keys", "create", "--name", "from outside"], environment);
    expect(made.code).toBe(0);
    for (const client of [inOne, inOther]) expect(await client.use(made.stdout.trim())).toBe(200);

    const late = await runPresage(
      ["keys", "create", "--name", "naive", "--expires-at", "2031-05-01T12:00:00"],
      { ...environment, TZ: "Asia/Tokyo" },
    );
    expect(late.code).toBe(0);
    const listed = (await inOne.list()).find(({ name }) => name === "naive");
    expect(listed?.expires_at).toBe("2031-05-01T12:00:00.000Z");
  });

  test("known keys are rarely looked up: most uses are answered from the cache", async () => {
    const count = (outcome: string) =>
      readMetric(other, `presage_key_verifications_total{outcome="${outcome}"}`);
    const { key } = await inOne.create("used at once");
    expect(await inOther.use(key)).toBe(200);
    const [cached, lookedUp] = [await count("cached"), await count("looked_up")];
    expect(await Promise.all(Array.from({ length: 100 }, () => inOther.use(key)))).toEqual(
      Array(100).fill(200),
    );
    expect((await count("cached")) - cached).toBeGreaterThan(5 * ((await count("looked_up")) - lookedUp));
  });
});
