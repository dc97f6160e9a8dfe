import { expect, test } from "bun:test";
import { episodeClient } from "../support/environments/episode-client.ts";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { onEachDatabase } from "../support/store/databases.ts";

onEachDatabase((database) => {
  const presage = usePresage({ database });
  const client = episodeClient(presage);

  const startWithKey = (environment: string, key: string, index = 0) =>
    presage.call(
      "POST",
      "/v1/episodes",
      { environment, index },
      { "x-api-key": testKey, "idempotency-key": key },
    );

  // This is more than may wait to change something; trainers start all episodes of a batch at the same time.
  test("of 250 episodes that one account starts at once none is refused", async () => {
    const starts = Array.from({ length: 250 }, (_, number) => startWithKey("sandbox", `start-${number}`));
    const statuses = (await Promise.all(starts)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([201]));
  }, 300_000);

  test("of starts at once that are one request, each has the same episode; one that reuses its key is refused alone", async () => {
    const environment = await client.environment();
    const responses = await Promise.all([
      ...Array.from({ length: 20 }, () => startWithKey(environment, "same")),
      ...Array.from({ length: 20 }, (_, number) => startWithKey(environment, `other-${number}`)),
    ]);
    const ids = await Promise.all(
      responses.map(async (response) => ((await response.json()) as { episode_id: string }).episode_id),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(ids.slice(0, 20)).size).toBe(1);
    expect(new Set(ids).size).toBe(21);
    const [refused, started] = await Promise.all([
      startWithKey("sandbox", "same", 1),
      startWithKey(environment, "next"),
    ]);
    expect([refused.status, started.status]).toEqual([422, 201]);
    const listed = await presage.call("GET", `/v1/episodes?environment=${environment}&limit=100`);
    expect(((await listed.json()) as { data: unknown[] }).data).toHaveLength(22);
  });
});
