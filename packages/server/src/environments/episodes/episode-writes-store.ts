import { CompiledQuery } from "kysely";
import { selectClosed } from "../../platform/storage/closed-accounts-store.ts";
import type { Micros } from "../../platform/storage/columns.ts";
import { forgetOldRequests, type Once, recordRequests } from "../../platform/storage/once.ts";
import { insertRows, insertTogether } from "../../platform/storage/rows.ts";
import type {
  EpisodeStepsTable,
  EpisodesTable,
  PredictionPayloadsTable,
  PredictionsTable,
} from "../../platform/storage/schema/runs.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import { holdEnvironments } from "../environments-store.ts";
import {
  type Delivery,
  insertSession,
  markDelivered,
  markUsed,
  type NewSession,
  type SessionStart,
  startSession,
  type Uses,
} from "../ors/ors-sessions-store.ts";
import { lockInOrder } from "./episodes-store.ts";

/** A step to store, with its prediction. Plain data, because it crosses threads. */
export interface NewStep {
  step: EpisodeStepsTable;
  prediction: PredictionsTable;
  payload: PredictionPayloadsTable;
  /** How the episode ends with this step; undefined if it goes on. */
  end: Pick<EpisodesTable, "outcome" | "stop_reason"> | undefined;
  at: Micros;
  /** A session's id can be used again once its episode is deleted. */
  episodeCreatedAt: Micros;
}

/** Stores steps of several episodes, each unless its episode went on or ended meanwhile. Returns the steps that were stored. */
async function insertSteps(database: Database, steps: readonly NewStep[]): Promise<ReadonlySet<NewStep>> {
  // The first of several steps of an episode counts.
  const first = [...new Map(steps.toReversed().map((one) => [one.step.episode_id, one])).values()];
  if (first.length === 0) return new Set();
  const stored = isPostgres(database)
    ? await insertInOneStatement(database, first)
    : await insertEach(database, first);
  return new Set(first.filter(({ step }) => stored.has(step.episode_id)));
}

/** The progress of an episode after a step. */
function progressOf({ step, end, at, episodeCreatedAt }: NewStep) {
  return {
    id: step.episode_id,
    created_at: episodeCreatedAt,
    step: step.step,
    at,
    status: end === undefined ? "open" : "finished",
    outcome: end?.outcome ?? null,
    stop_reason: end?.stop_reason ?? null,
    reward: step.reward,
  };
}

/**
 * On PostgreSQL each statement takes a round trip, and the text of this one is as short for any number of steps. Returns the episodes
 * that were where their step expects them.
 */
async function insertInOneStatement(database: Database, steps: readonly NewStep[]) {
  const rows = {
    progress: steps.map((one) => ({ ...progressOf(one), prediction_id: one.prediction.id })),
    steps: steps.map(({ step }) => step),
    predictions: steps.map(({ prediction }) => prediction),
    payloads: steps.map(({ payload }) => payload),
  };
  const columnsOf = ([first]: readonly object[]) => Object.keys(first ?? {}).join(", ");
  const statement = `
    with new as (
      select * from json_to_recordset($1) as new(id text, created_at bigint, step bigint, at bigint, status text, outcome text,
        stop_reason text, reward double precision, prediction_id text)
    ), locked as materialized (
      ${lockInOrder("$2")}
    ), advanced as (
      update episodes as episode
      set steps = new.step, last_active_at = new.at, status = new.status, outcome = new.outcome, stop_reason = new.stop_reason,
        reward = coalesce(episode.reward + new.reward, new.reward, episode.reward)
      from new join locked on locked.id = new.id
      where episode.id = new.id and episode.id = any($2) and episode.created_at = new.created_at
        and episode.status = 'open' and episode.steps = new.step - 1
      returning episode.id, new.prediction_id
    ), inserted_steps as (
      insert into episode_steps (${columnsOf(rows.steps)})
      select ${columnsOf(rows.steps)} from json_populate_recordset(null::episode_steps, $3)
      where episode_id in (select id from advanced)
    ), inserted_predictions as (
      insert into predictions (${columnsOf(rows.predictions)})
      select ${columnsOf(rows.predictions)} from json_populate_recordset(null::predictions, $4)
      where id in (select prediction_id from advanced)
    ), inserted_payloads as (
      insert into prediction_payloads (${columnsOf(rows.payloads)})
      select ${columnsOf(rows.payloads)} from json_populate_recordset(null::prediction_payloads, $5)
      where prediction_id in (select prediction_id from advanced)
    )
    select id from advanced`;
  const parameters = [
    JSON.stringify(rows.progress),
    steps.map(({ step }) => step.episode_id),
    JSON.stringify(rows.steps),
    JSON.stringify(rows.predictions),
    JSON.stringify(rows.payloads),
  ];
  const advanced = await database.executeQuery<{ id: string }>(CompiledQuery.raw(statement, parameters));
  return new Set(advanced.rows.map(({ id }) => id));
}

/** Used on SQLite, where each statement stays prepared. */
async function insertEach(transaction: Database, steps: readonly NewStep[]) {
  const advanced = await advanceEach(transaction, steps);
  const stored = steps.filter(({ step }) => advanced.has(step.episode_id));
  await insertTogether(transaction, [
    { table: "episode_steps", rows: stored.map(({ step }) => step) },
    { table: "predictions", rows: stored.map(({ prediction }) => prediction) },
    { table: "prediction_payloads", rows: stored.map(({ payload }) => payload) },
  ]);
  return advanced;
}

async function advanceEach(transaction: Database, steps: readonly NewStep[]) {
  const values = steps.map((one) => {
    const { id, created_at, step, at, status, outcome, stop_reason, reward } = progressOf(one);
    return [step, at, status, outcome, stop_reason, reward, reward, id, created_at, step - 1];
  });
  const rows = await transaction.executeQuery<{ id: string }>({
    ...CompiledQuery.raw(advanceOne),
    parameters: values,
  });
  return new Set(rows.rows.map(({ id }) => id));
}

/** The reward becomes the sum of those that are not null. */
const advanceOne = `
  update episodes
  set steps = ?, last_active_at = ?, status = ?, outcome = ?, stop_reason = ?, reward = coalesce(reward + ?, ?, reward)
  where id = ? and created_at = ? and status = 'open' and steps = ?
  returning id`;

/** A new episode, and the request for it if that has a key. Plain data, because it crosses threads. */
export interface NewEpisodeRow {
  row: EpisodesTable;
  request: (Once & { receipt: string }) | undefined;
}

/**
 * Stores episodes, each unless its account is closed, its environment was deleted or its request was made before. Returns the
 * episodes that were stored.
 */
async function insertEpisodes(transaction: Database, episodes: readonly NewEpisodeRow[]) {
  if (episodes.length === 0) return new Set();
  const rows = episodes.map(({ row }) => row);
  const accountIds = rows.map((row) => row.account_id);
  const closed = await selectClosed(transaction, accountIds);
  const environmentIds = rows.map((row) => row.environment_id);
  const held = await holdEnvironments(transaction, environmentIds);
  const possible = episodes.filter(({ row }) => !closed.has(row.account_id) && held.has(row.environment_id));
  const requests = possible.flatMap(({ request }) => request ?? []);
  const recorded = await recordRequests(transaction, requests);
  const stored = possible.filter(({ request }) => request === undefined || recorded.has(request));
  const storedRows = stored.map(({ row }) => row);
  await insertRows(transaction, "episodes", storedRows);
  return new Set(stored);
}

/** A change to an episode or its session. Plain data, because it crosses threads. */
export type EpisodeWrite =
  | { step: NewStep }
  | { episode: NewEpisodeRow }
  | { session: NewSession }
  | { start: SessionStart }
  | { delivery: Delivery }
  | { uses: Uses };

/** Makes changes in one transaction that many callers share. Returns for each whether it was made: others may have been first. */
export async function applyWrites(database: Database, writes: readonly EpisodeWrite[]) {
  const steps = writes.flatMap((write) => ("step" in write ? [write.step] : []));
  const deliveries = writes.flatMap((write) => ("delivery" in write ? [write.delivery] : []));
  // A single statement needs no transaction.
  if (steps.length === writes.length && isPostgres(database)) {
    const stored = await insertSteps(database, steps);
    return steps.map((step) => stored.has(step));
  }
  const episodes = writes.flatMap((write) => ("episode" in write ? [write.episode] : []));
  const results = await database.transaction().execute(async (transaction) => {
    const stored = await insertSteps(transaction, steps);
    const started = await insertEpisodes(transaction, episodes);
    await markDelivered(transaction, deliveries);
    const made = new Map<EpisodeWrite, boolean>();
    // Always in the same order, so that two transactions cannot deadlock.
    for (const write of writes.toSorted((a, b) => (startedId(a) < startedId(b) ? -1 : 1))) {
      if ("session" in write) made.set(write, await insertSession(transaction, write.session));
      else if ("start" in write) made.set(write, await startSession(transaction, write.start));
    }
    for (const write of writes) if ("uses" in write) await markUsed(transaction, write.uses);
    return writes.map((write) => {
      if ("step" in write) return stored.has(write.step);
      return "episode" in write ? started.has(write.episode) : (made.get(write) ?? true);
    });
  });
  // In the background, as in `doOnce`.
  const requests = episodes.filter(({ request }) => request !== undefined).length;
  if (requests > 0) void forgetOldRequests(database, requests).catch(() => {});
  return results;
}

/** The id of the session that a write starts. */
function startedId(write: EpisodeWrite): string {
  if ("session" in write) return write.session.row.id;
  return "start" in write ? write.start.episode.id : "";
}
