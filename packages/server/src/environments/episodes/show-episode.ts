import {
  type EpisodeFigures,
  type EpisodeFiguresQuery,
  type EpisodeGrouping,
  type EpisodeStart,
  type EpisodeStep,
  type EpisodeSummary,
  type RealityState,
  readInstant,
  type TaskSplitName,
  type Episode as WholeEpisode,
} from "@presage/contract";
import { type RawBuilder, sql } from "kysely";
import { clusteredError, rateInterval } from "../../platform/statistics/intervals.ts";
import { shownTokens } from "../../platform/storage/answer-columns.ts";
import { beginningOfField, jsonBefore, readBeginning } from "../../platform/storage/beginnings.ts";
import { type Micros, microsPerMs, toIsoInstant } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { environmentDefaults } from "../environment.ts";
import { findEnvironment, ifKnownSoon, type RealityServices } from "../find-environment.ts";
import { type Episode, expiredBefore, findEpisode, indexOf, statusOf } from "./episode.ts";
import { countCharacters, type EpisodeRow, isOfAgent, type StepRow, selectSteps } from "./episodes-store.ts";
import { endOf, type StepResult } from "./step-episode.ts";

interface CountedEpisodes {
  environmentId: string | undefined;
  /** Inclusive. */
  from: Micros | undefined;
  /** Exclusive. */
  to: Micros | undefined;
  expiredBefore: Micros;
}

/** The outcomes of a group's episodes, and the sums for the interval of the success rate. */
type EpisodeCounts = Awaited<ReturnType<typeof selectEpisodeCounts>>[number];

export function toEpisodeStart({ row, config, task, reality }: Episode): EpisodeStart {
  return {
    episode_id: row.id,
    observation: task.initial_state,
    info: {
      environment: row.environment,
      revision: row.revision,
      split: row.split,
      index: indexOf(row) ?? null,
      prompt: task.prompt ?? null,
      metadata: task.metadata ?? null,
      max_steps: config.max_steps ?? environmentDefaults.maxSteps,
      reality: reality === undefined ? null : forEpisode(reality, row),
    },
  };
}

/** The state that is shown may be a minute old; starting an episode looks again. */
const shownForMs = 60_000;

/** Whether successes in an episode's environment are false too often, for those who train in it. */
export async function showReality(
  { realityOf }: RealityServices,
  requester: Requester,
  { row, config }: Episode,
): Promise<{ reality?: EpisodeStart["info"]["reality"] }> {
  if (typeof config.real?.false_success_limit !== "number") return {};
  const { environment_id: id, environment: name } = row;
  const looking = realityOf(requester, { id, name, revision: row.revision, config }, shownForMs);
  const state = await ifKnownSoon(looking);
  return state === undefined ? {} : { reality: forEpisode(state, row) };
}

/** Keeps only the policy of the episode. */
function forEpisode({ policies, ...state }: RealityState, { policy }: Pick<EpisodeRow, "policy">) {
  return { ...state, policy: policies.find((one) => one.policy === policy) ?? null };
}

export function toEpisodeSummary(row: EpisodeRow): Omit<EpisodeSummary, "instruction"> {
  return {
    id: row.id,
    environment: row.environment,
    revision: row.revision,
    split: row.split,
    index: indexOf(row) ?? null,
    seed: row.seed,
    policy: row.policy,
    status: statusOf(row),
    outcome: row.outcome,
    stop_reason: row.stop_reason,
    steps_taken: row.steps,
    reward: row.reward,
    failed_steps: row.failed_steps,
    created_at: toIsoInstant(row.created_at),
    last_active_at: toIsoInstant(row.last_active_at),
  };
}

export function toStep({ step, end }: StepResult): EpisodeStep {
  const { prompt_tokens, cached_tokens, completion_tokens } = step;
  return {
    action: step.action,
    observation: step.observation,
    reward: step.reward,
    terminated: step.terminated === 1,
    truncated: step.truncated === 1,
    info: {
      step: step.step,
      outcome: end?.outcome ?? null,
      stop_reason: end?.reason ?? null,
      prediction_id: step.prediction_id,
      reward_error: step.reward_error,
      deployment: step.deployment,
      model: step.model,
      finish_reason: step.finish_reason,
      ...shownTokens({ prompt_tokens, cached_tokens, completion_tokens }),
      latency_ms: step.latency_micros === null ? null : step.latency_micros / microsPerMs,
    },
  };
}

/** An episode with all its steps. `reserve` gets the number of characters before they are read. */
export async function showEpisode(
  { store }: { store: Store },
  requester: Requester,
  id: string,
  reserve: (characters: number) => void,
): Promise<WholeEpisode> {
  const episode = await findEpisode({ store }, requester, id);
  const { id: storedId, task, steps } = episode.row;
  const reader = store.briefReader(requester);
  reserve(task.length + (await countCharacters(reader, storedId, { after: 0, upTo: steps })));
  return toEpisode(episode, await selectSteps(reader, storedId, 0));
}

function toEpisode({ row, task }: Episode, steps: readonly StepRow[]): WholeEpisode {
  return {
    ...toEpisodeSummary(row),
    initial_state: task.initial_state,
    prompt: task.prompt ?? null,
    goal: task.goal ?? null,
    steps: steps.map((step) => toStep({ step, end: endOf(row, step) })),
  };
}

const instructionCharacters = 200;
/** A task may have megabytes, and searching a hundred of them would take seconds. */
const searchedCharacters = 65_536;

/** The beginning of what each episode's task says is to be done, by the episodes' ids. */
export async function selectInstructions(
  reader: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  if (ids.length === 0) return new Map();
  // Metadata may have fields of these names.
  const searched = jsonBefore(
    reader,
    sql<string>`substr(task, 1, ${sql.lit(searchedCharacters)})`,
    "metadata",
  );
  const rows = await reader
    .selectFrom("episodes")
    .select([
      "id",
      ...(["prompt", "goal", "task_context"] as const).map((name) =>
        beginningOfField(reader, searched, name, instructionCharacters).as(name),
      ),
    ])
    .where("id", "in", ids)
    .execute();
  return new Map(
    rows.map(({ id, ...texts }) => {
      const [prompt, goal, context] = [texts.prompt, texts.goal, texts.task_context].map((text) =>
        readBeginning(text, instructionCharacters),
      );
      return [id, prompt || goal || context || null];
    }),
  );
}

/** The outcomes of each group's episodes. Throws if there is no environment of the name. */
export async function countByGroup(
  { store }: { store: Store },
  requester: Requester,
  { by = "environment", environment, from, to }: EpisodeFiguresQuery,
): Promise<EpisodeFigures[]> {
  const found =
    environment === undefined ? undefined : await findEnvironment({ store }, requester, environment);
  const counts = await selectEpisodeCounts(store.reader(requester), requester.accountId, by, {
    environmentId: found?.id,
    from: from === undefined ? undefined : readInstant(from),
    to: to === undefined ? undefined : readInstant(to),
    expiredBefore: expiredBefore(),
  });
  return counts.map((one) => toEpisodeFigures(by, one));
}

function toEpisodeFigures(by: EpisodeGrouping, counts: EpisodeCounts): EpisodeFigures {
  const moments = {
    clusters: counts.tasks,
    count: counts.finished,
    sum: counts.successes,
    sumSquares: counts.success_squares,
    countSums: counts.count_successes,
    countSquares: counts.count_squares,
  };
  const { environment, part, episodes, open, finished, successes, failures, tasks, rewarded, rewards } =
    counts;
  return {
    environment,
    revision: by === "revision" ? Number(part) : null,
    deployment: by === "deployment" && part !== null ? String(part) : null,
    split: by === "split" ? (part as TaskSplitName) : null,
    episodes,
    open,
    expired: episodes - open - finished,
    finished,
    successes,
    failures,
    tasks,
    success_rate: finished === 0 ? null : successes / finished,
    // Episodes of one task are not independent.
    success_interval: rateInterval(moments, clusteredError(moments)),
    mean_steps: finished === 0 ? null : counts.finished_steps / finished,
    rewarded,
    mean_reward: rewarded === 0 || rewards === null ? null : rewards / rewarded,
    failed_steps: counts.failed_steps,
    last_started_at: toIsoInstant(counts.last_started_at),
  };
}

/** Counts by task, because episodes of one task depend on each other. */
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
      // Tasks that came with requests are the same if their texts are equal.
      .groupBy(sql`case when episode.position < 0 then episode.task end`)
      .as("of_task")
  );
}

const summed = [
  "episodes",
  "open",
  "finished",
  "successes",
  "failures",
  "finished_steps",
  "rewarded",
  "failed_steps",
] as const;

/** Counts an account's episodes by environment and one more column, `part`: a number, a name, or null. */
export async function selectEpisodeCounts(
  reader: Database,
  accountId: string,
  by: EpisodeGrouping,
  counted: CountedEpisodes,
) {
  const rows = await reader
    .selectFrom(countByTask(reader, accountId, by, counted))
    .select(["environment_id", "part"])
    .select((of) => [
      of.fn.max("environment").as("environment"),
      ...summed.map((name) => of.fn.sum<number>(name).as(name)),
      of.fn.sum<number | null>("rewards").as("rewards"),
      // Tasks with ended episodes.
      sql<number>`sum(case when finished > 0 then 1 else 0 end)`.as("tasks"),
      sql<number>`sum(successes * successes)`.as("success_squares"),
      sql<number>`sum(finished * successes)`.as("count_successes"),
      sql<number>`sum(finished * finished)`.as("count_squares"),
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
