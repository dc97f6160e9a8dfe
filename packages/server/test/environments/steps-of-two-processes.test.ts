import { afterAll, beforeAll, expect, test } from "bun:test";
import { applyWrites, type NewStep } from "../../src/environments/episodes/episode-writes-store.ts";
import { insertEpisode } from "../../src/environments/episodes/episodes-store.ts";
import { openDatabase } from "../../src/platform/storage/open.ts";
import type { OpenedDatabase } from "../../src/platform/storage/store.ts";
import { episodeRow } from "../support/environments/episode-row.ts";
import { onEachDatabase } from "../support/store/databases.ts";

const episodes = Array.from({ length: 30 }, (_, index) => `episode-${String(index).padStart(2, "0")}`);
const steps = 5;

onEachDatabase((database) => {
  /** One opened database for each of two processes. */
  let opened: OpenedDatabase[] = [];

  beforeAll(async () => {
    const url = await database.create();
    opened = [await openDatabase(url, () => {}), await openDatabase(url, () => {})];
  });

  afterAll(async () => {
    for (const { destroy } of opened) await destroy();
  });

  test("of steps that two processes take of the same episodes, each is stored once, with all that belongs to it", async () => {
    const [one, other] = opened;
    if (one === undefined || other === undefined) throw new Error("both databases are open");
    for (const id of episodes) await insertEpisode(one.database, episodeRow(id, 1));
    for (let step = 1; step <= steps; step += 1) {
      const ofOne = episodes.map((id) => ({ step: newStep(id, step, "one") }));
      const ofOther = episodes.toReversed().map((id) => ({ step: newStep(id, step, "other") }));
      const [byOne, byOther] = await Promise.all([
        applyWrites(one.database, ofOne),
        applyWrites(other.database, ofOther),
      ]);
      // Each episode was advanced by exactly one of the two.
      expect(byOther.toReversed()).toEqual(byOne.map((isStored) => !isStored));
    }
    const stored = await one.database
      .selectFrom("episode_steps as step")
      .innerJoin("predictions as prediction", (join) =>
        join
          .onRef("prediction.run_id", "=", "step.episode_id")
          .onRef("prediction.position", "=", "step.step"),
      )
      .innerJoin("prediction_payloads as payload", "payload.prediction_id", "prediction.id")
      .select(["step.episode_id", "step.step", "step.action", "step.reward", "payload.output"])
      .orderBy("step.episode_id")
      .orderBy("step.step")
      .execute();
    expect(stored.map(({ episode_id, step }) => [episode_id, Number(step)])).toEqual(
      episodes.flatMap((id) => Array.from({ length: steps }, (_, index) => [id, index + 1])),
    );
    for (const { action, output } of stored) expect(output).toBe(`"seen" by ${action}\n\t\\ é 世界 🌍`);
    expect(new Set(stored.map(({ reward }) => reward))).toEqual(new Set([0.1]));
    const counts = await one.database.selectFrom("predictions").select("id").execute();
    expect(counts.length).toBe(stored.length);
    const rows = await one.database.selectFrom("episodes").select(["steps", "reward", "status"]).execute();
    for (const row of rows)
      expect({ ...row, steps: Number(row.steps) }).toEqual({
        steps,
        reward: expect.closeTo(0.5),
        status: "finished",
      });
  }, 300_000);
});

function newStep(episodeId: string, step: number, process: string): NewStep {
  const id = Bun.randomUUIDv7();
  const isLast = step === steps;
  return {
    at: step,
    episodeCreatedAt: 1,
    end: isLast ? { outcome: "success", stop_reason: "It is over." } : undefined,
    step: {
      episode_id: episodeId,
      step,
      action: process,
      reward: 0.1,
      reward_error: null,
      terminated: isLast ? 1 : 0,
      truncated: 0,
      request_key: null,
    },
    prediction: {
      id,
      account_id: "account",
      source: "episode",
      created_at: step,
      run_id: episodeId,
      position: step,
      repeat: 0,
      status: "success",
      error_category: null,
      deployment: "default",
      model: null,
      sent_model: null,
      replica: null,
      finish_reason: "stop",
      prompt_tokens: 3,
      cached_tokens: 0,
      completion_tokens: 2,
      latency_micros: 1_234,
      score: null,
      confidence: null,
      api_key_id: null,
      request_id: null,
    },
    payload: {
      prediction_id: id,
      context_digest: null,
      request: null,
      output: `"seen" by ${process}\n\t\\ é 世界 🌍`,
      reasoning: null,
      error_message: null,
    },
  };
}
