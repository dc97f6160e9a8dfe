import { expect, test } from "bun:test";
import { EpisodeStart } from "@presage/contract";
import { parseSeen, type SeenClock, seenClockSetting } from "../../src/platform/storage/clock.ts";
import { inspectDatabase } from "../../src/platform/storage/open.ts";
import { readSetting, saveSetting } from "../../src/platform/storage/settings-store.ts";
import { expectEventually } from "../support/eventually.ts";
import { startPresage, type TestPresage } from "../support/presage/presage.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { storeResults } from "../support/store/store-results.ts";
import { resultAt } from "./many-results.ts";

const environment = { PRESAGE_RETENTION: "results=30,predictions=30,episodes=30,usage=30,audit=90" };
/** Long before today. */
const old = Date.UTC(2020, 0, 1) * 1_000;

/** Whether a server has deleted everything that was too old. */
async function hasEnded(presage: Pick<TestPresage, "call">): Promise<boolean> {
  return (await readMetric(presage, "presage_retention_complete_timestamp_seconds")) > 0;
}

onAnyDatabase((database) => {
  test("Old episodes, usage and events of the audit log are deleted, but no episode that a dataset was made from or that is new", async () => {
    const url = await database.create();
    const presage = await startPresage({ PRESAGE_DATABASE_URL: url });
    await using opened = await openStore(url);
    const store = opened.database;
    const post = async (path: string, body: unknown) => await (await presage.call("POST", path, body)).json();
    const play = async () => {
      const { episode_id } = EpisodeStart.parse(
        await post("/v1/episodes", { environment: "sandbox", index: 0 }),
      );
      await post(`/v1/episodes/${episode_id}/step`, { action: "open door" });
      return episode_id;
    };
    const [gone, inDataset, young] = [await play(), await play(), await play()];
    const { id } = (await post("/v1/datasets", { name: "played" })) as { id: string };
    const made = await presage.call("POST", `/v1/datasets/${id}/revisions?from=episodes`, {
      ids: [inDataset],
    });
    expect(made.status).toBe(201);
    await presage.stop();
    await store
      .updateTable("episodes")
      .set({ created_at: old, last_active_at: old })
      .where("id", "in", [gone, inDataset])
      .execute();
    const usage = { account_id: opened.owner.account_id, key_id: "", operation: "predict" as const };
    const counts = {
      requests: 1,
      prompt_tokens: 1,
      completion_tokens: 1,
      cached_tokens: 0,
      example_tokens: 0,
      outcome: "" as const,
    };
    await store
      .insertInto("usage_counts")
      .values([10, 11, 5_000].map((hour) => ({ ...usage, ...counts, hour })))
      .execute();

    const event = {
      account_id: opened.owner.account_id,
      action: "api_key.create",
      object_id: "key",
      actor_kind: "command_line",
      actor_user_id: null,
      actor_id: null,
      actor_name: null,
      request_id: null,
      detail: "{}",
    } as const;
    const daysAgo = (days: number) => (Date.now() - days * 86_400_000) * 1_000;
    await store
      .insertInto("audit_events")
      .values([1, 89, 91, 1_000].map((days) => ({ ...event, id: `${days}`, created_at: daysAgo(days) })))
      .execute();

    const deleting = await startPresage({ PRESAGE_DATABASE_URL: url, ...environment });
    const left = async (table: "episodes" | "episode_steps") =>
      (
        await store
          .selectFrom(table)
          .select(table === "episodes" ? "episodes.id as id" : "episode_steps.episode_id as id")
          .execute()
      )
        .map((row) => row.id)
        .sort()
        .join();
    const stays = [inDataset, young].sort().join();
    await expectEventually(() => left("episodes"), stays);
    expect(await left("episode_steps")).toBe(stays);
    const hours = async () =>
      (await store.selectFrom("usage_counts").select("hour").where("hour", "<=", 5_000).execute()).length;
    await expectEventually(hours, 0);
    const events = async () => {
      const kept = store.selectFrom("audit_events").select("id").where("object_id", "=", "key");
      return (await kept.execute())
        .map(({ id }) => Number(id))
        .sort((a, b) => a - b)
        .join();
    };
    await expectEventually(events, "1,89");
    await expectEventually(() => hasEnded(deleting), true);
    await deleting.stop();
  });

  test("After a jump of the clock nothing is deleted by age, until servers have run for a day", async () => {
    const url = await database.create();
    await using opened = await openStore(url);
    await storeResults(opened.database, opened.owner.account_id, [{ ...resultAt(0), createdAt: old }]);
    const count = async () =>
      (await opened.database.selectFrom("evaluation_results").select("id").execute()).length;
    const noted = async (seen: SeenClock) => {
      await saveSetting(opened.database, seenClockSetting, JSON.stringify(seen));
      return await startPresage({ PRESAGE_DATABASE_URL: url, ...environment });
    };
    const before = (hours: number) => (Date.now() - hours * 3_600_000) * 1_000;

    const jumped = await noted({ believed: before(40 * 24) });
    await expectEventually(() => readMetric(jumped, "presage_retention_waits"), 1);
    expect(await count()).toBe(1);
    expect((await inspectDatabase(url)).seenClock?.jumped).toEqual({ seen: expect.any(Number), ran: 0 });
    await jumped.stop();

    const ran = 23.9 * 3_600_000_000;
    const believed = await noted({ believed: before(40 * 24), jumped: { seen: before(2), ran } });
    await expectEventually(count, 0);
    expect(await readMetric(believed, "presage_retention_waits")).toBe(0);
    await believed.stop();
    const last = parseSeen(await readSetting(opened.database, seenClockSetting));
    expect(last).toEqual({ believed: expect.any(Number) });
    expect(last?.believed).toBeGreaterThan(before(1));
  });
});
