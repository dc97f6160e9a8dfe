import { expect, test } from "bun:test";
import { writeLastUses } from "../../src/accounts/api-keys-store.ts";
import { nowMicros } from "../../src/platform/storage/columns.ts";
import { eventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const { create, find, revoke, use } = apiKeyClient(() => presage);
  const lastUseOf = async (id: string) => Date.parse((await find(id))?.last_used_at ?? "");

  test.concurrent("a key works until it expires and not after, even if in use", async () => {
    const expiresAt = Date.now() + 2_000;
    const { id, key } = await create("short", new Date(expiresAt).toISOString());
    const [inTime, late]: [number[], number[]] = [[], []];
    while (Date.now() < expiresAt + 700) {
      const sentAt = Date.now();
      const status = await use(key);
      if (sentAt >= expiresAt) late.push(status);
      else if (Date.now() < expiresAt) inTime.push(status);
      await Bun.sleep(20);
    }
    expect([inTime.length, late.length].every((count) => count > 5)).toBe(true);
    expect([new Set(inTime), new Set(late)]).toEqual([new Set([200]), new Set([401])]);
    expect((await find(id))?.revoked_at).toBeNull();
  });

  test.concurrent("a key's last use is shown promptly the first time, then in batches, and never moves back", async () => {
    const { id, key } = await create("used a lot");
    const startedAtMs = Date.now();
    expect(await use(key)).toBe(200);
    const seen = [await eventually(() => lastUseOf(id), Number.isFinite, 4_000)];
    expect(seen[0]).toBeGreaterThanOrEqual(startedAtMs - 5);
    while (Date.now() - startedAtMs < 1_500) {
      expect(await use(key)).toBe(200);
      const usedAt = await lastUseOf(id);
      if (usedAt !== seen.at(-1)) seen.push(usedAt);
      await Bun.sleep(30);
    }
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    // Dozens of uses in 1.5 s, written in batches of half a second.
    expect(seen.length).toBeGreaterThanOrEqual(2);
    expect(seen.length).toBeLessThanOrEqual(5);
    expect(Date.now() - (seen.at(-1) ?? 0)).toBeLessThan(10_000);
  });

  test.concurrent("a rejected key gets no last use", async () => {
    const { id, key } = await create("revoked unused");
    await revoke(id);
    const other = await startPresage({ PRESAGE_DATABASE_URL: presage.databaseUrl });
    expect(await apiKeyClient(() => other).use(key)).toBe(401);
    // Writes every use that it has recorded.
    await other.stop();
    expect(await lastUseOf(id)).toBeNaN();
  });

  test("a later last use written by another process is not moved back", async () => {
    const { id } = await create("used elsewhere");
    await using store = await openStore(presage.databaseUrl);
    const now = nowMicros();
    const second = 1_000_000;
    for (const [written, kept] of [
      [now, now],
      [now - second, now],
      [now + second, now + second],
    ] as const) {
      await writeLastUses(store.database, new Map([[id, written]]));
      expect(await lastUseOf(id)).toBe(Math.trunc(kept / 1_000));
    }
  });
});
