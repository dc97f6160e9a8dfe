import type { EpisodeGrouping } from "@presage/contract";
import { type RawBuilder, sql } from "kysely";
import type { Micros } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isOfAgent } from "./episodes-store.ts";

export interface CountedEpisodes {
  environmentId: string | undefined;
  /** Inclusive. */
  from: Micros | undefined;
  /** Exclusive. */
  to: Micros | undefined;
  expiredBefore: Micros;
}

/** How the episodes of a group went, with what the interval of the success rate needs. */
export interface EpisodeCounts {
  environment: string;
  /** Of what is grouped by; a number, a name, or nothing. */
  part: string | number | null;
  episodes: number;
  open: number;
  finished: number;
  successes: number;
  failures: number;
  /** Tasks with ended episodes. */
  tasks: number;
  /** Σ successes², over tasks; Σ ended · successes; Σ ended². */
  success_squares: number;
  count_successes: number;
  count_squares: number;
  finished_steps: number;
  rewarded: number;
  rewards: number | null;
  failed_steps: number;
  last_started_at: Micros;
}

/** By task, as episodes of one task depend on each other. */
function countByTask(
  reader: Database,
  accountId: string,
  by: EpisodeGrouping,
  { environmentId, from, to, expiredBefore }: CountedEpisodes,
) {
  const part = partOf(by);
  const countIf = (condition: RawBuilder<unknown>) =>
    sql<number>`sum(case when ${condition} then 1 else 0 end)`;
  const isFinished = sql`episode.status = 'finished'`;
  return (
    reader
      .selectFrom("episodes as episode")
      .$if(by === "deployment", (query) =>
        query.leftJoin("predictions as first", (join) =>
          join
            .onRef("first.run_id", "=", "episode.id")
            .on("first.position", "=", 1)
            .on("first.repeat", "=", 0),
        ),
      )
      .where("episode.account_id", "=", accountId)
      .where(isOfAgent("episode.id"))
      .$if(environmentId !== undefined, (query) =>
        query.where("episode.environment_id", "=", environmentId ?? ""),
      )
      .$if(from !== undefined, (query) => query.where("episode.created_at", ">=", from ?? 0))
      .$if(to !== undefined, (query) => query.where("episode.created_at", "<", to ?? 0))
      .select(["episode.environment_id", part.as("part")])
      .select((of) => [
        of.fn.max("episode.environment").as("environment"),
        of.fn.countAll<number>().as("episodes"),
        countIf(sql`episode.status = 'open' and episode.last_active_at >= ${expiredBefore}`).as("open"),
        countIf(isFinished).as("finished"),
        countIf(sql`episode.outcome = 'success'`).as("successes"),
        countIf(sql`episode.outcome = 'failure'`).as("failures"),
        sql<number>`sum(case when ${isFinished} then episode.steps else 0 end)`.as("finished_steps"),
        countIf(sql`${isFinished} and episode.reward is not null`).as("rewarded"),
        sql<number | null>`sum(case when ${isFinished} then episode.reward end)`.as("rewards"),
        of.fn.sum<number>("episode.failed_steps").as("failed_steps"),
        of.fn.max("episode.created_at").as("last_started_at"),
      ])
      .groupBy(["episode.environment_id", part, "episode.split", "episode.position"])
      // Tasks that came with requests are the same if their texts are.
      .groupBy(sql`case when episode.position < 0 then episode.task end`)
      .as("of_task")
  );
}

/** Counts an account's episodes by environment and one thing more. */
export async function selectEpisodeCounts(
  reader: Database,
  accountId: string,
  by: EpisodeGrouping,
  counted: CountedEpisodes,
): Promise<EpisodeCounts[]> {
  const rows = await reader
    .selectFrom(countByTask(reader, accountId, by, counted))
    .select(["environment_id", "part"])
    .select((of) => [
      of.fn.max("environment").as("environment"),
      of.fn.sum<number>("episodes").as("episodes"),
      of.fn.sum<number>("open").as("open"),
      of.fn.sum<number>("finished").as("finished"),
      of.fn.sum<number>("successes").as("successes"),
      of.fn.sum<number>("failures").as("failures"),
      sql<number>`sum(case when finished > 0 then 1 else 0 end)`.as("tasks"),
      sql<number>`sum(successes * successes)`.as("success_squares"),
      sql<number>`sum(finished * successes)`.as("count_successes"),
      sql<number>`sum(finished * finished)`.as("count_squares"),
      of.fn.sum<number>("finished_steps").as("finished_steps"),
      of.fn.sum<number>("rewarded").as("rewarded"),
      of.fn.sum<number | null>("rewards").as("rewards"),
      of.fn.sum<number>("failed_steps").as("failed_steps"),
      of.fn.max("last_started_at").as("last_started_at"),
    ])
    .groupBy(["environment_id", "part"])
    .orderBy("environment")
    .orderBy("part")
    .execute();
  return rows.map(({ environment_id: _, ...counts }) => counts);
}

function partOf(by: EpisodeGrouping): RawBuilder<string | number | null> {
  if (by === "revision") return sql`episode.revision`;
  if (by === "split") return sql`episode.split`;
  if (by === "deployment") return sql`first.deployment`;
  return sql`cast(null as text)`;
}
