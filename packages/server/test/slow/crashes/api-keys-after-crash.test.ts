import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { ApiKeyCreateResponse, ApiKeyListResponse } from "@presage/contract";
import { type SpawnedPresage, spawnPresage } from "../../support/presage/spawn-presage.ts";
import { onEachDatabase } from "../../support/store/databases.ts";

/** Creates keys, sixteen at a time, until the server is gone; `created` has every one that got a 201. */
async function createKeysUntilGone(presage: SpawnedPresage, created: ApiKeyCreateResponse[]): Promise<void> {
  const worker = async () => {
    for (;;) {
      const response = await presage
        .call("POST", "/v1/api-keys", { name: "made under load" })
        .catch(() => undefined);
      const answer = await response?.json().catch(() => undefined);
      if (response === undefined || answer === undefined) return;
      // On a busy machine some requests wait too long for their turn.
      if (response.status === 503) continue;
      expect(response.status).toBe(201);
      created.push(ApiKeyCreateResponse.parse(answer));
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

onEachDatabase((database) => {
  test("every key created before kill -9 exists and works after a restart", async () => {
    const url = await database.create();
    const environment = { PRESAGE_DATABASE_URL: url };
    const created: ApiKeyCreateResponse[] = [];
    for (let crash = 0; crash < 2; crash++) {
      await using presage = await spawnPresage(environment);
      const before = created.length;
      const load = createKeysUntilGone(presage, created);
      while (created.length < before + 75) await Bun.sleep(5);
      presage.kill("SIGKILL");
      await load;
      expect(await presage.exited).toBe(137);
    }

    await using presage = await spawnPresage(environment);
    const { data } = ApiKeyListResponse.parse(await (await presage.call("GET", "/v1/api-keys")).json());
    const listed = new Set(data.map(({ id }) => id));
    expect(created.length).toBeGreaterThanOrEqual(150);
    expect(created.filter(({ id }) => !listed.has(id))).toStrictEqual([]);
    const statuses = await Promise.all(
      created.map(
        async ({ key }) => (await presage.call("GET", "/v1/me", undefined, { "x-api-key": key })).status,
      ),
    );
    expect(statuses.filter((status) => status !== 200)).toStrictEqual([]);
    if (database.name === "SQLite") expect(integrityOf(url.slice("sqlite:".length))).toBe("ok");
  }, 300_000);
});

function integrityOf(path: string): unknown {
  using database = new Database(path);
  return database.query<{ integrity_check: string }, []>("PRAGMA integrity_check").get()?.integrity_check;
}
