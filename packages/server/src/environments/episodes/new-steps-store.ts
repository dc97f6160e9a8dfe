import { sql } from "kysely";
import { isPostgres } from "../../storage/is-postgres.ts";
import type { Micros } from "../../storage/micros.ts";
import { prepareStatement } from "../../storage/prepare-statement.ts";
import type { EpisodeStepsTable, EpisodesTable } from "../../storage/schema/environments.ts";
import type { PredictionPayloadsTable, PredictionsTable } from "../../storage/schema/predictions.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { insertTogether } from "../../storage/writing/insert-rows.ts";
import { lockEpisodes } from "./episodes-store.ts";

/** A step with its prediction, to be stored. Plain data: it crosses threads. */
export interface NewStep {
  step: EpisodeStepsTable;
  prediction: PredictionsTable;
  payload: PredictionPayloadsTable;
  /** How the episode ends with it; undefined: it goes on. */
  end: Pick<EpisodesTable, "outcome" | "stop_reason"> | undefined;
  at: Micros;
}

/** Stores steps of several episodes, each unless its episode has gone on or ended meanwhile. Returns those that were stored. */
export async function insertSteps(
  transaction: Database,
  steps: readonly NewStep[],
): Promise<ReadonlySet<NewStep>> {
  // Of two steps of one episode, the first counts.
  const first = new Map(steps.toReversed().map((one) => [one.step.episode_id, one]));
  const advanced = isPostgres(transaction)
    ? await advanceTogether(transaction, [...first.values()])
    : await advanceEach(transaction, [...first.values()]);
  const stored = [...first.values()].filter(({ step }) => advanced.has(step.episode_id));
  await insertTogether(transaction, [
    { table: "episode_steps", rows: stored.map(({ step }) => step) },
    { table: "predictions", rows: stored.map(({ prediction }) => prediction) },
    { table: "prediction_payloads", rows: stored.map(({ payload }) => payload) },
  ]);
  return new Set(stored);
}

/** How an episode is after a step. */
function progressOf({ step, end, at }: NewStep) {
  return {
    id: step.episode_id,
    step: step.step,
    at,
    status: end === undefined ? "open" : "finished",
    outcome: end?.outcome ?? null,
    stop_reason: end?.stop_reason ?? null,
    reward: step.reward,
  };
}

/** On PostgreSQL each statement takes a round trip. Returns the episodes that were where their step expects them. */
async function advanceTogether(transaction: Database, steps: readonly NewStep[]): Promise<Set<string>> {
  if (steps.length === 0) return new Set();
  await lockEpisodes(
    transaction,
    steps.map(({ step }) => step.episode_id),
  );
  const { rows } = await sql<{ id: string }>`
    update episodes as episode
    set steps = new.step, last_active_at = new.at, status = new.status, outcome = new.outcome, stop_reason = new.stop_reason,
      reward = coalesce(episode.reward + new.reward, new.reward, episode.reward)
    from json_to_recordset(${JSON.stringify(steps.map(progressOf))}) as new(
      id text, step bigint, at bigint, status text, outcome text, stop_reason text, reward double precision)
    where episode.id = new.id and episode.status = 'open' and episode.steps = new.step - 1
    returning episode.id`.execute(transaction);
  return new Set(rows.map(({ id }) => id));
}

async function advanceEach(transaction: Database, steps: readonly NewStep[]): Promise<Set<string>> {
  const advanced = new Set<string>();
  for (const one of steps) {
    const { id, step, at, status, outcome, stop_reason, reward } = progressOf(one);
    const values = [step, at, status, outcome, stop_reason, reward, reward, id, "open", step - 1];
    if ((await advanceOne(transaction, values)).length > 0) advanced.add(id);
  }
  return advanced;
}

const advanceOne = prepareStatement((database) =>
  database
    .updateTable("episodes")
    .set({ steps: 0, last_active_at: 0, status: "open", outcome: null, stop_reason: null })
    // The sum of the rewards that are not null.
    .set({ reward: sql<number>`coalesce(reward + ${0}, ${0}, reward)` })
    .where("id", "=", "")
    .where("status", "=", "open")
    .where("steps", "=", 0)
    .returning("id"),
);
