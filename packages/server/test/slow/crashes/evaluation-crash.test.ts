import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { EvaluateResponse, type EvaluationResult, EvaluationResultSearchResponse } from "@presage/contract";
import { type SpawnedPresage, spawnPresage } from "../../support/presage/spawn-presage.ts";
import { seeded } from "../../support/seeded.ts";
import { onEachDatabase } from "../../support/store/databases.ts";

/** For a longer test: PRESAGE_TEST_CRASHES=100. */
const crashes = Number(process.env.PRESAGE_TEST_CRASHES ?? 4);
const callers = 16;
const callersOfPeer = 4;
/** The peer runs throughout all kills; without a pause it would keep the processors busy on its own. */
const pauseOfPeerMs = 50;

/** Evaluates numbered samples until the server is gone; `answered` has the result of each response. */
async function evaluateUntilGone(
  presage: SpawnedPresage,
  crash: number | "peer",
  answered: Map<string, string>,
): Promise<void> {
  const caller = async (number: number) => {
    for (let call = 0; ; call++) {
      const dataset_sample_id = `${crash}-${number}-${call}`;
      const response = await presage
        .call("POST", "/v1/evaluate", {
          evaluators: [{ evaluator: "exact-match" }],
          evaluated_model_output: dataset_sample_id,
          evaluated_model_gold_answer: dataset_sample_id,
          dataset_sample_id,
          tags: { crash: String(crash) },
        })
        .catch(() => undefined);
      const body = await response?.json().catch(() => undefined);
      if (response === undefined || body === undefined) return;
      expect(response.status).toBe(200);
      const id = EvaluateResponse.parse(body).results[0]?.evaluation_result?.id;
      answered.set(dataset_sample_id, String(id));
      if (crash === "peer") await Bun.sleep(pauseOfPeerMs);
    }
  };
  const length = crash === "peer" ? callersOfPeer : callers;
  await Promise.all(Array.from({ length }, (_, number) => caller(number)));
}

/** Every stored result, oldest first. */
async function allResults(presage: SpawnedPresage): Promise<EvaluationResult[]> {
  const all: EvaluationResult[] = [];
  for (;;) {
    const page = { limit: 1000, order: "created_at", after_id: Number(all.at(-1)?.id ?? 0) };
    const response = await presage.call("POST", "/v1/evaluation-results/search", page);
    const { results } = EvaluationResultSearchResponse.parse(await response.json());
    if (results.length === 0) return all;
    all.push(...results);
  }
}

onEachDatabase((database) => {
  test(
    `after ${crashes} kills under load every confirmed result is stored exactly once`,
    seeded(async (draw) => {
      const url = await database.create();
      const answered = new Map<string, string>();
      // Several processes share a PostgreSQL: one keeps running while the others are killed, and is killed last.
      const peer =
        database.name === "PostgreSQL" ? await spawnPresage({ PRESAGE_DATABASE_URL: url }) : undefined;
      const loadOfPeer = peer === undefined ? undefined : evaluateUntilGone(peer, "peer", answered);
      for (let crash = 0; crash < crashes; crash++) {
        await using presage = await spawnPresage({ PRESAGE_DATABASE_URL: url });
        const before = answered.size;
        const load = evaluateUntilGone(presage, crash, answered);
        while (answered.size === before) await Bun.sleep(1);
        await Bun.sleep(draw.below(150));
        presage.kill("SIGKILL");
        await load;
        expect(await presage.exited).toBe(137);
      }
      peer?.kill("SIGKILL");
      await loadOfPeer;

      await using presage = await spawnPresage({ PRESAGE_DATABASE_URL: url });
      const results = await allResults(presage);
      const kept = new Map(results.map((result) => [String(result.dataset_sample_id), result.id]));
      expect(answered.size).toBeGreaterThanOrEqual(crashes);
      expect([...answered].filter(([sample, id]) => kept.get(sample) !== id)).toEqual([]);
      expect(kept.size).toBe(results.length);
      const response = await presage.call("POST", "/v1/evaluation-results/summary", {});
      const summary = (await response.json()) as { source: string; groups: { count: number }[] };
      expect(summary).toMatchObject({ source: "rollups", groups: [{ count: results.length }] });
      if (database.name === "SQLite") expect(integrityOf(url.slice("sqlite:".length))).toBe("ok");
    }),
    600_000,
  );
});

function integrityOf(path: string): unknown {
  using database = new Database(path);
  return database.query<{ integrity_check: string }, []>("PRAGMA integrity_check").get()?.integrity_check;
}
