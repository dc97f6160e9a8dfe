import type { EnvironmentConfig, EpisodeEnding, EpisodeStatus } from "@presage/contract";
import { CompiledQuery, type Expression, type ExpressionBuilder, type SqlBool, sql } from "kysely";
import { parseStored } from "../../platform/json.ts";
import type { Micros } from "../../platform/storage/columns.ts";
import {
  isLater,
  type Keyset,
  type KeysetPage,
  type ListPart,
  selectNewestFirst,
  toListPart,
} from "../../platform/storage/lists.ts";
import { prepareStatement } from "../../platform/storage/rows.ts";
import type {
  EpisodeStepsTable,
  EpisodesTable,
  PredictionsTable,
} from "../../platform/storage/schema/runs.ts";
import type { Database, Tables } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";

export async function insertEpisode(database: Database, row: EpisodesTable) {
  await database.insertInto("episodes").values(row).execute();
}

/** An episode with its environment's config at its start; the config is undefined if the environment is built in or deleted. */
export async function selectEpisode(database: Database, accountId: string, id: string) {
  const [row] = await episodeOfId(database, [id, accountId]);
  if (row === undefined) return undefined;
  const { config, ...episode } = row;
  return { episode, config: config === null ? undefined : (parseStored(config) as EnvironmentConfig) };
}

const episodeOfId = prepareStatement((database) =>
  database
    .selectFrom("episodes as episode")
    .leftJoin("environment_revisions as revision", (join) =>
      join
        .onRef("revision.environment_id", "=", "episode.environment_id")
        .onRef("revision.revision", "=", "episode.revision"),
    )
    .selectAll("episode")
    .select("revision.config")
    .where("episode.id", "=", "")
    .where("episode.account_id", "=", ""),
);

/** Selects episodes; absent fields select all. */
export interface EpisodeFilter
  extends Partial<
    Pick<EpisodesTable, "environment_id" | "revision" | "split" | "position" | "policy"> & {
      ids: readonly string[];
      status: EpisodeStatus;
      outcome: EpisodeEnding;
      /** Inclusive. */
      from: Micros;
      /** Exclusive. */
      to: Micros;
    }
  > {
  /** Open episodes that were last used before this have expired. */
  expiredBefore: Micros;
  /** Only episodes that agents played. */
  ofAgents?: boolean;
  stepsAbove?: number;
}

/** Whether an agent played an episode. Episodes that checks play from recordings have UUIDs of version 5 as ids. */
export const isOfAgent = (id: string) => sql<SqlBool>`substr(${sql.ref(id)}, 15, 1) <> '5'`;

/** The columns of an episode without its task, which may have megabytes. */
const summaryColumns = [
  "id",
  "environment",
  "revision",
  "split",
  "position",
  "seed",
  "policy",
  "status",
  "outcome",
  "stop_reason",
  "steps",
  "reward",
  "failed_steps",
  "created_at",
  "last_active_at",
] as const;

/** The columns of an episode that lists show. */
export type EpisodeRow = Pick<EpisodesTable, (typeof summaryColumns)[number]>;

/** An account's episodes, newest first. */
export async function selectEpisodes(
  reader: Database,
  accountId: string,
  filter: EpisodeFilter,
  page: KeysetPage,
): Promise<ListPart<EpisodeRow>> {
  const query = reader.selectFrom("episodes").select(summaryColumns).where(isMatching(accountId, filter));
  return await selectNewestFirst(query, page);
}

/** The ids of an account's episodes, oldest first. */
export async function selectMatchingIds(
  reader: Database,
  accountId: string,
  filter: EpisodeFilter,
  { limit, after }: KeysetPage,
) {
  let query = reader.selectFrom("episodes").select(["id", "created_at"]).where(isMatching(accountId, filter));
  if (after !== undefined) query = query.where(isLater(after));
  const rows = await query
    .orderBy("created_at")
    .orderBy("id")
    .limit(limit + 1)
    .execute();
  return toListPart(rows, limit);
}

export async function countMatching(reader: Database, accountId: string, filter: EpisodeFilter) {
  const { count } = await reader
    .selectFrom("episodes")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where(isMatching(accountId, filter))
    .executeTakeFirstOrThrow();
  return count;
}

function isMatching(accountId: string, filter: EpisodeFilter) {
  const { expiredBefore, ids, status, outcome, from, to, ofAgents, stepsAbove, ...equal } = filter;
  return (row: ExpressionBuilder<Tables, "episodes">) => {
    const conditions: Expression<SqlBool>[] = [row("account_id", "=", accountId), row.and(equal)];
    if (ids !== undefined) conditions.push(row("id", "in", ids));
    if (ofAgents) conditions.push(isOfAgent("id"));
    if (stepsAbove !== undefined) conditions.push(row("steps", ">", stepsAbove));
    if (status !== undefined) conditions.push(row("status", "=", status === "finished" ? status : "open"));
    if (status === "open") conditions.push(row("last_active_at", ">=", expiredBefore));
    if (status === "expired") conditions.push(row("last_active_at", "<", expiredBefore));
    if (outcome === "none") conditions.push(row("status", "=", "finished"), row("outcome", "is", null));
    else if (outcome !== undefined) conditions.push(row("outcome", "=", outcome));
    if (from !== undefined) conditions.push(row("created_at", ">=", from));
    if (to !== undefined) conditions.push(row("created_at", "<", to));
    return row.and(conditions);
  };
}

/** The columns of a step's prediction that are shown. */
const predictionColumns = [
  "deployment",
  "model",
  "replica",
  "finish_reason",
  "prompt_tokens",
  "cached_tokens",
  "completion_tokens",
  "latency_micros",
] as const;

export type StepRow = EpisodeStepsTable &
  Pick<PredictionsTable, (typeof predictionColumns)[number]> & { prediction_id: string; observation: string };

/** Steps of an episode after one step, up to another, in order. */
export async function selectSteps(
  database: Database,
  episodeId: string,
  after: number,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<StepRow[]> {
  return await stepsBetween(database, [episodeId, after, upTo]);
}

const stepsBetween = prepareStatement((database) =>
  withPredictions(database, "").where("step.step", ">", 0).where("step.step", "<=", 0).orderBy("step.step"),
);

/** The steps of an episode at which its world abstained. */
export async function selectAbstentions(database: Database, episodeId: string): Promise<Set<number>> {
  const rows = await database
    .selectFrom("predictions as prediction")
    .innerJoin("prediction_payloads as payload", "payload.prediction_id", "prediction.id")
    .select(["prediction.position", "payload.request"])
    .where("prediction.run_id", "=", episodeId)
    .where("payload.request", "like", '%"abstained":true%')
    .execute();
  // The pattern may also match a parameter.
  const abstained = rows.filter(({ request }) => JSON.parse(request ?? "{}").world?.abstained === true);
  return new Set(abstained.map(({ position }) => position ?? 0));
}

/** The number of characters of an episode's steps after one step, up to another. */
export async function countCharacters(
  database: Database,
  episodeId: string,
  { after, upTo }: { after: number; upTo: number },
) {
  const { characters } = await withPredictions(database, episodeId)
    .clearSelect()
    .where("step.step", ">", after)
    .where("step.step", "<=", upTo)
    .select(
      sql<number | null>`sum(length(step.action) + coalesce(length(payload.output), 0))`.as("characters"),
    )
    .executeTakeFirstOrThrow();
  return characters ?? 0;
}

/** The step that a request made. */
export async function selectStepByKey(
  database: Database,
  episodeId: string,
  requestKey: string,
): Promise<StepRow | undefined> {
  const [step] = await stepOfKey(database, [episodeId, requestKey]);
  return step;
}

const stepOfKey = prepareStatement((database) =>
  withPredictions(database, "").where("step.request_key", "=", ""),
);

function withPredictions(database: Database, episodeId: string) {
  return database
    .selectFrom("episode_steps as step")
    .innerJoin("predictions as prediction", (join) =>
      join
        .onRef("prediction.run_id", "=", "step.episode_id")
        .onRef("prediction.position", "=", "step.step")
        .on("prediction.repeat", "=", sql.lit(0)),
    )
    .innerJoin("prediction_payloads as payload", "payload.prediction_id", "prediction.id")
    .selectAll("step")
    .select("prediction.id as prediction_id")
    .select(predictionColumns.map((column) => `prediction.${column}` as const))
    .select((of) => of.fn.coalesce("payload.output", sql.lit("")).as("observation"))
    .where("step.episode_id", "=", episodeId);
}

/** Ends an episode whose next step cannot be predicted, unless it has gone on. Returns whether it was ended. */
export async function endFailedEpisode(
  database: Database,
  { id, steps }: Pick<EpisodesTable, "id" | "steps">,
  failed: { stop_reason: string; error: string },
) {
  const ended = await database
    .updateTable("episodes")
    .set({ status: "finished", ...failed })
    .where("id", "=", id)
    .where("status", "=", "open")
    .where("steps", "=", steps)
    .returning("id")
    .executeTakeFirst();
  return ended !== undefined;
}

/** Ends an episode that nobody will continue. */
export async function endUnfinished(database: Database, id: string, stop_reason: string) {
  await database
    .updateTable("episodes")
    .set({ status: "finished", stop_reason })
    .where("id", "=", id)
    .where("status", "=", "open")
    .execute();
}

/** Counts a step of the episode that could not be predicted. */
export async function countFailedStep(database: Database, episodeId: string, at: Micros) {
  await database
    .updateTable("episodes")
    .set((of) => ({ failed_steps: of("failed_steps", "+", 1), last_active_at: at }))
    .where("id", "=", episodeId)
    .execute();
}

export async function countEpisodesOf(database: Database, accountId: string, environmentId: string) {
  const { count } = await database
    .selectFrom("episodes")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where("account_id", "=", accountId)
    .where("environment_id", "=", environmentId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function selectEpisodeIds(
  database: Database,
  accountId: string,
  environmentId: string,
  limit: number,
) {
  const rows = await database
    .selectFrom("episodes")
    .select("id")
    .where("account_id", "=", accountId)
    .where("environment_id", "=", environmentId)
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Whether a dataset contains the episode as a trajectory. */
const isInDataset = sql<SqlBool | number>`exists (select 1 from dataset_revisions as revision
  where revision.account_id = episodes.account_id and revision.state <> 'deleted' and exists (
    select 1 from dataset_samples as sample
    where sample.revision_id = revision.id and sample.trajectory_id = episodes.id))`;

/** The oldest episodes of an account that were last used before a time, after a place. */
export async function selectOldEpisodes(
  database: Database,
  accountId: string,
  before: Micros,
  after: Keyset,
  limit: number,
) {
  const rows = await database
    .selectFrom("episodes")
    .select(["id", "created_at", "steps", isInDataset.as("is_in_dataset")])
    .where("account_id", "=", accountId)
    .where(isLater(after))
    .where("created_at", "<", before)
    .where("last_active_at", "<", before)
    .orderBy("created_at")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id, created_at, steps, is_in_dataset }) => ({
    id,
    createdAt: created_at,
    steps,
    isInDataset: Boolean(is_in_dataset),
  }));
}

/** Locks episodes until the transaction ends, always in the same order, so that two transactions cannot deadlock. */
async function lockEpisodes(transaction: Database, ids: readonly string[]) {
  if (!isPostgres(transaction) || ids.length === 0) return;
  await transaction.executeQuery(CompiledQuery.raw(lockInOrder("$1"), [ids]));
}

/** The statement that locks episodes on PostgreSQL, with a placeholder for their ids. */
export function lockInOrder(ids: string): string {
  return `select id from episodes where id = any(${ids}) order by id for update`;
}

/** Deletes what real environments answered to the episodes' actions. The figures of checks keep how both sides ended. */
async function deleteRealSteps(transaction: Database, ids: readonly string[]) {
  await sql`delete from reality_steps where exists (select 1 from reality_episodes as checked
    where checked.check_id = reality_steps.check_id and checked.position = reality_steps.position
      and checked.episode_id in (${sql.join(ids)}))`.execute(transaction);
}

/** Deletes episodes with their steps and predictions. Returns the number of episodes. */
export async function deleteEpisodeRows(transaction: Database, ids: readonly string[]) {
  if (ids.length === 0) return 0;
  // Locked first, so that no step is stored in between.
  await lockEpisodes(transaction, ids);
  await transaction
    .deleteFrom("prediction_payloads")
    .where("prediction_id", "in", (of) =>
      of.selectFrom("predictions").select("id").where("run_id", "in", ids),
    )
    .execute();
  await transaction.deleteFrom("predictions").where("run_id", "in", ids).execute();
  await transaction.deleteFrom("episode_steps").where("episode_id", "in", ids).execute();
  await deleteRealSteps(transaction, ids);
  const { numDeletedRows } = await transaction
    .deleteFrom("episodes")
    .where("id", "in", ids)
    .executeTakeFirstOrThrow();
  await transaction.deleteFrom("ors_sessions").where("id", "in", ids).execute();
  return Number(numDeletedRows);
}

/** The columns that are read again for an episode that a process knows. */
export type EpisodeProgress = Pick<EpisodesTable, (typeof progressColumns)[number]>;

/** The progress of an episode; undefined if it does not exist. */
export async function selectProgressOfOne(
  database: Database,
  id: string,
): Promise<EpisodeProgress | undefined> {
  return (await progressOfOne(database, [id])).at(0);
}

/** The progress of each of these episodes, in one statement; undefined for those that do not exist. PostgreSQL only. */
export async function selectProgressOfSome(
  database: Database,
  ids: readonly string[],
): Promise<(EpisodeProgress | undefined)[]> {
  const found = await progressOfSome(database, [ids]);
  const byId = new Map(found.map((one) => [one.id, one]));
  return ids.map((id) => byId.get(id));
}

const progressColumns = ["id", "status", "steps", "created_at", "last_active_at"] as const;

const progressOfOne = prepareStatement((database) =>
  database.selectFrom("episodes").select(progressColumns).where("id", "=", ""),
);

const progressOfSome = prepareStatement((database) =>
  database.selectFrom("episodes").select(progressColumns).where(sql<SqlBool>`id = any(${""})`),
);
