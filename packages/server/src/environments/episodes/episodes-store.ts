import type { EnvironmentConfig } from "@presage/contract";
import { type SqlBool, sql } from "kysely";
import { type KeysetPage, type ListPart, toListPart } from "../../storage/keyset.ts";
import type { Micros } from "../../storage/micros.ts";
import { prepareStatement } from "../../storage/prepare-statement.ts";
import type { EpisodeStepsTable, EpisodesTable } from "../../storage/schema/environments.ts";
import type { PredictionsTable } from "../../storage/schema/predictions.ts";
import type { Database } from "../../storage/schema/tables.ts";

export async function insertEpisode(database: Database, row: EpisodesTable): Promise<void> {
  await database.insertInto("episodes").values(row).execute();
}

/** An episode with what its environment was made of when it started; null if that is built in. */
export async function selectEpisode(
  database: Database,
  accountId: string,
  id: string,
): Promise<{ episode: EpisodesTable; config: EnvironmentConfig | undefined } | undefined> {
  const row = await database
    .selectFrom("episodes as episode")
    .leftJoin("environment_revisions as revision", (join) =>
      join
        .onRef("revision.environment_id", "=", "episode.environment_id")
        .onRef("revision.revision", "=", "episode.revision"),
    )
    .selectAll("episode")
    .select("revision.config")
    .where("episode.id", "=", id)
    .where("episode.account_id", "=", accountId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { config, ...episode } = row;
  return { episode, config: config === null ? undefined : (JSON.parse(config) as EnvironmentConfig) };
}

/** An account's episodes, newest first. */
export async function selectEpisodes(
  reader: Database,
  accountId: string,
  environmentId: string | undefined,
  { limit, after }: KeysetPage,
): Promise<ListPart<EpisodesTable>> {
  const rows = await reader
    .selectFrom("episodes")
    .selectAll()
    .where("account_id", "=", accountId)
    .$if(environmentId !== undefined, (query) => query.where("environment_id", "=", environmentId ?? ""))
    .$if(after !== undefined, (query) =>
      query.where(sql<SqlBool>`(created_at, id) < (${after?.createdAt}, ${after?.id})`),
    )
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  return toListPart(rows, limit);
}

export type StepRow = EpisodeStepsTable &
  Pick<
    PredictionsTable,
    | "deployment"
    | "model"
    | "replica"
    | "prompt_tokens"
    | "cached_tokens"
    | "completion_tokens"
    | "latency_micros"
  > & { observation: string };

/** How far an episode is. */
export async function selectProgress(
  database: Database,
  id: string,
): Promise<Pick<EpisodesTable, "status" | "steps" | "last_active_at"> | undefined> {
  return (await progress(database, [id])).at(0);
}

const progress = prepareStatement((database) =>
  database.selectFrom("episodes").select(["status", "steps", "last_active_at"]).where("id", "=", ""),
);

/** Steps of an episode after one, in their order. */
export async function selectSteps(database: Database, episodeId: string, after: number): Promise<StepRow[]> {
  return await stepsAfter(database, [episodeId, after]);
}

const stepsAfter = prepareStatement((database) =>
  withPredictions(database, "").where("step.step", ">", 0).orderBy("step.step"),
);

/** The step that a request made. */
export async function selectStepByKey(
  database: Database,
  episodeId: string,
  requestKey: string,
): Promise<StepRow | undefined> {
  return await withPredictions(database, episodeId)
    .where("step.request_key", "=", requestKey)
    .executeTakeFirst();
}

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
    .select([
      "prediction.deployment",
      "prediction.model",
      "prediction.replica",
      "prediction.prompt_tokens",
      "prediction.cached_tokens",
      "prediction.completion_tokens",
      "prediction.latency_micros",
    ])
    .select((of) => of.fn.coalesce("payload.output", sql.lit("")).as("observation"))
    .where("step.episode_id", "=", episodeId);
}

/** Ends an episode whose next step cannot be predicted, unless it has gone on. Returns whether it did. */
export async function endFailedEpisode(
  database: Database,
  { id, steps }: Pick<EpisodesTable, "id" | "steps">,
  failed: { stop_reason: string; error: string },
): Promise<boolean> {
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

/** A step of the episode could not be predicted. */
export async function countFailedStep(database: Database, episodeId: string, at: Micros): Promise<void> {
  await database
    .updateTable("episodes")
    .set((of) => ({ failed_steps: of("failed_steps", "+", 1), last_active_at: at }))
    .where("id", "=", episodeId)
    .execute();
}

export async function countEpisodesOf(
  database: Database,
  accountId: string,
  environmentId: string,
): Promise<number> {
  const { count } = await database
    .selectFrom("episodes")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where("account_id", "=", accountId)
    .where("environment_id", "=", environmentId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function selectEpisodeIds(
  database: Database,
  accountId: string,
  environmentId: string,
  limit: number,
): Promise<string[]> {
  const rows = await database
    .selectFrom("episodes")
    .select("id")
    .where("account_id", "=", accountId)
    .where("environment_id", "=", environmentId)
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** With their steps and predictions. */
export async function deleteEpisodeRows(transaction: Database, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await transaction
    .deleteFrom("prediction_payloads")
    .where("prediction_id", "in", (of) =>
      of.selectFrom("predictions").select("id").where("run_id", "in", ids),
    )
    .execute();
  await transaction.deleteFrom("predictions").where("run_id", "in", ids).execute();
  await transaction.deleteFrom("episode_steps").where("episode_id", "in", ids).execute();
  await transaction.deleteFrom("episodes").where("id", "in", ids).execute();
  await transaction.deleteFrom("ors_sessions").where("id", "in", ids).execute();
}
