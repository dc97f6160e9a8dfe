import { join } from "node:path";
import { composeStore } from "../../packages/server/src/app/storage.ts";
import { readConfig } from "../../packages/server/src/config/config.ts";
import { createLog } from "../../packages/server/src/platform/observability/logger.ts";
import { nowMicros } from "../../packages/server/src/platform/storage/columns.ts";
import { insertRows } from "../../packages/server/src/platform/storage/rows.ts";
import { call, post, read } from "../lib/api.ts";
import { judge, median, showCount, showMegabytes, showTimes, tableOf } from "../lib/figures.ts";
import { loadNow, p99, predictWhile } from "../lib/load.ts";
import type { Part } from "../lib/part.ts";
import { workDirectory } from "../lib/processes.ts";
import { type RunningPresage, sqliteFile, startPresage } from "../lib/targets.ts";
import { readMemory } from "../lib/usage.ts";
import { steps } from "./lab.ts";

const fullPlan = { episodes: 10_000, rounds: 3, aloneMs: 15_000 };
const quickPlan = { episodes: 500, rounds: 1, aloneMs: 2_000 };
const tasks = 500;

interface Round {
  /** Replays a second alongside predictions, and without them. */
  perSecondBeside: number;
  perSecond: number;
  reportMs: number;
  aloneMs: number;
  besideMs: number;
  grownBytes: number;
  load: number;
}

export const realityPart: Part = {
  title: "Reality checks",
  measure: async ({ group, upstream, quick }) => {
    const plan = quick ? quickPlan : fullPlan;
    const lab = new Worker(new URL("./lab.ts", import.meta.url).href);
    const origin = await new Promise<string>((resolve) => {
      lab.onmessage = ({ data }) => resolve(data);
    });
    const file = join(workDirectory, "real.yaml");
    await Bun.write(
      file,
      `environments:\n  lab: { protocol: http, url: "${origin}", environment: rooms, max_in_flight: 8 }\n`,
    );
    const presage = await startPresage(group, (await upstream()).origin, "reality", undefined, {
      PRESAGE_REAL_ENVIRONMENTS: file,
    });
    await post(presage, "/v1/environments", { name: "rooms", real: { name: "lab" } });
    await fill(sqliteFile(presage.directory), plan.episodes);
    const rounds: Round[] = [];
    for (let round = 0; round < plan.rounds; round += 1) rounds.push(await measureRound(presage, plan));
    await group.stop(presage.process);
    lab.terminate();
    const p99Ratio = median(rounds.map(({ aloneMs, besideMs }) => besideMs / aloneMs));
    return {
      goals: [
        judge(
          "Beside a reality check, live predictions' p99 is at most 1.2 times what it is without",
          quick ? undefined : p99Ratio,
          (times) => times <= 1.2,
          showTimes,
        ),
        judge(
          "The report of 10,000 checked episodes of 20 steps takes at most 2 s",
          quick ? undefined : median(rounds.map(({ reportMs }) => reportMs)),
          (ms) => ms <= 2_000,
          (ms) => `${ms.toFixed(0)} ms`,
        ),
      ],
      problems: [],
      text: write(rounds, plan),
    };
  },
};

/** Stores ended episodes as if they had been played: half of them succeeded. */
const fill = async (databaseFile: string, episodes: number): Promise<void> => {
  const config = readConfig({ PRESAGE_DATABASE_URL: `sqlite:${databaseFile}` });
  const store = await composeStore(config, createLog("silent"));
  const { database } = store;
  const environment = await database.selectFrom("environments").selectAll().executeTakeFirstOrThrow();
  const at = nowMicros();
  const task = (index: number) =>
    JSON.stringify({ initial_state: "You are in a room.", metadata: { index } });
  const episodesAtOnce = 20;
  for (let from = 0; from < episodes; from += episodesAtOnce) {
    const made = Array.from({ length: episodesAtOnce }, (_, index) => ({
      id: Bun.randomUUIDv7(),
      account_id: environment.account_id,
      environment_id: environment.id,
      environment: "rooms",
      revision: 1,
      split: "train" as const,
      position: (from + index) % tasks,
      task: task((from + index) % tasks),
      seed: null,
      policy: `step-${index % 4}`,
      status: "finished" as const,
      outcome: null,
      stop_reason: "made",
      error: null,
      steps,
      reward: index % 2,
      failed_steps: 0,
      api_key_id: null,
      created_at: at + from + index,
      last_active_at: at,
    }));
    const taken = made.flatMap(({ id, account_id }) =>
      Array.from({ length: steps }, (_, index) => ({
        id,
        account_id,
        step: index + 1,
        prediction: Bun.randomUUIDv7(),
      })),
    );
    await database.transaction().execute(async (transaction) => {
      await insertRows(transaction, "episodes", made);
      await insertRows(
        transaction,
        "episode_steps",
        taken.map(({ id, step }) => ({
          episode_id: id,
          step,
          action: `open door ${step}`,
          reward: null,
          reward_error: null,
          terminated: 0 as const,
          truncated: 0 as const,
          request_key: null,
        })),
      );
      await insertRows(
        transaction,
        "predictions",
        taken.map(({ id, account_id, step, prediction }) => ({
          id: prediction,
          account_id,
          source: "episode" as const,
          created_at: at,
          run_id: id,
          position: step,
          repeat: 0,
          status: "success" as const,
          error_category: null,
          deployment: "default",
          model: "m",
          sent_model: "m",
          replica: null,
          finish_reason: "stop",
          prompt_tokens: 1,
          cached_tokens: 0,
          completion_tokens: 1,
          latency_micros: 1,
          api_key_id: null,
          request_id: null,
          score: null,
          confidence: null,
        })),
      );
      await insertRows(
        transaction,
        "prediction_payloads",
        taken.map(({ prediction }) => ({
          prediction_id: prediction,
          context_digest: null,
          request: null,
          output: "The lamp is on.",
          reasoning: null,
          error_message: null,
        })),
      );
    });
  }
  await store.destroy();
};

const measureRound = async (presage: RunningPresage, plan: typeof fullPlan): Promise<Round> => {
  const untilMs = performance.now() + plan.aloneMs;
  const alone = await predictWhile(presage.predict, () => performance.now() < untilMs);
  const before = readMemory(presage.process.pid).rssBytes;
  const startedMs = performance.now();
  const wanted = { environment: "rooms", episodes: {}, limit: plan.episodes };
  const { id } = await post<{ id: string }>(presage, "/v1/reality-checks", wanted);
  let grownBytes = 0;
  let isOver = false;
  const following = follow(presage, id, () => {
    grownBytes = Math.max(grownBytes, readMemory(presage.process.pid).rssBytes - before);
  }).finally(() => {
    isOver = true;
  });
  const besideUntilMs = startedMs + plan.aloneMs;
  const beside = await predictWhile(presage.predict, () => !isOver && performance.now() < besideUntilMs);
  const besideMs = performance.now() - startedMs;
  const replayed = await countReplayed(presage);
  await following;
  const restMs = performance.now() - startedMs - besideMs;
  const askedMs = performance.now();
  await (await call(presage, "GET", `/v1/reality-checks/${id}`)).text();
  const reportMs = performance.now() - askedMs;
  const round = {
    perSecondBeside: (replayed / besideMs) * 1000,
    perSecond: ((plan.episodes - replayed) / restMs) * 1000,
    reportMs,
    aloneMs: p99(alone),
    besideMs: p99(beside),
    grownBytes,
    load: loadNow(),
  };
  process.stdout.write(`reality  ${JSON.stringify(round)}\n`);
  return round;
};

const countReplayed = async (presage: RunningPresage): Promise<number> => {
  const { data } = await read<{ data: { episodes: number }[] }>(presage, "/v1/reality-checks?limit=1");
  return data[0]?.episodes ?? 0;
};

/** Waits until a check has ended. Reads its list entry, which has no figures, as these would be computed each time. */
const follow = async (presage: RunningPresage, id: string, look: () => void): Promise<void> => {
  for (;;) {
    const { data } = await read<{ data: { id: string; status: string; failed: number }[] }>(
      presage,
      "/v1/reality-checks?limit=1",
    );
    const [check] = data;
    look();
    if (check?.id === id && check.status !== "running") {
      if (check.status !== "completed" || check.failed > 0)
        throw new Error(`the check: ${JSON.stringify(check)}`);
      return;
    }
    await Bun.sleep(500);
  }
};

const write = (rounds: readonly Round[], { episodes }: typeof fullPlan): string => `
${showCount(episodes)} episodes of ${steps} steps in ${tasks} tasks and 4 policies, on SQLite, against a real environment over HTTP that answers at once and shares the machine; 8 at once. Four callers predict meanwhile, with a pause of 10 ms after each answer; for as long as alone before it; then the check goes on without them.

${tableOf(rounds, [
  ["replays a second beside predictions", ({ perSecondBeside }) => perSecondBeside.toFixed(0)],
  ["without", ({ perSecond }) => perSecond.toFixed(0)],
  ["p99 of predictions alone", ({ aloneMs }) => `${aloneMs.toFixed(1)} ms`],
  ["beside", ({ besideMs }) => `${besideMs.toFixed(1)} ms`],
  ["memory grew by", ({ grownBytes }) => `${showMegabytes(grownBytes)} MB`],
  ["report", ({ reportMs }) => `${reportMs.toFixed(0)} ms`],
  ["load", ({ load }) => load.toFixed(1)],
])}`;
