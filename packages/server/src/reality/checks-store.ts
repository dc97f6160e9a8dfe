import type { RealityCheckStatus } from "@presage/contract";
import { type SqlBool, sql } from "kysely";
import { type Micros, nowMicros } from "../platform/storage/columns.ts";
import { type KeysetPage, type ListPart, selectNewestFirst } from "../platform/storage/lists.ts";
import type {
  RealityChecksTable,
  RealityEpisodesTable,
  RealityStepsTable,
} from "../platform/storage/schema/reality.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

/** The columns that are the same in every new check. */
type FilledIn = "created_at" | "reason" | "run_id" | "whole_run_id";

/** Inserts a check; an existing check with the same id stays as it is. */
export async function insertCheck(
  transaction: Database,
  check: Omit<RealityChecksTable, FilledIn>,
): Promise<RealityChecksTable> {
  const row = { ...check, created_at: nowMicros(), reason: null, run_id: null, whole_run_id: null };
  await transaction
    .insertInto("reality_checks")
    .values(row)
    .onConflict((of) => of.column("id").doNothing())
    .execute();
  return row;
}

export async function selectCheck(
  reader: Database,
  accountId: string,
  id: string,
): Promise<RealityChecksTable | undefined> {
  return await reader
    .selectFrom("reality_checks")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** Records the run that was made from a check. */
export async function updateRunOf(
  database: Database,
  id: string,
  column: "run_id" | "whole_run_id",
  runId: string,
) {
  await database
    .updateTable("reality_checks")
    .set({ [column]: runId })
    .where("id", "=", id)
    .execute();
}

/** An account's reality checks, newest first, optionally of one environment or with one status. */
export async function selectChecks(
  reader: Database,
  accountId: string,
  { environment, status }: { environment?: string | undefined; status?: RealityCheckStatus | undefined },
  page: KeysetPage,
): Promise<ListPart<RealityChecksTable>> {
  const all = reader
    .selectFrom("reality_checks")
    .selectAll()
    .where("account_id", "=", accountId)
    .$if(environment !== undefined, (query) => query.where("environment", "=", environment ?? ""))
    .$if(status !== undefined, (query) => query.where("status", "=", status ?? "running"));
  return await selectNewestFirst(all, page);
}

/** The last episodes of a check whose outcomes are known, up to `most`, in the check's order. */
export async function selectLastEpisodes(
  reader: Database,
  checkId: string,
  most: number,
): Promise<RealityEpisodesTable[]> {
  const rows = await reader
    .selectFrom("reality_episodes")
    .selectAll()
    .where("check_id", "=", checkId)
    .orderBy("position", "desc")
    .limit(most)
    .execute();
  return rows.reverse();
}

/** Episodes of a check whose outcomes are known, after a position; only false successes if wanted. */
export async function selectEpisodePage(
  reader: Database,
  checkId: string,
  { after, limit, falseSuccesses = false }: { after: number; limit: number; falseSuccesses?: boolean },
): Promise<RealityEpisodesTable[]> {
  return await reader
    .selectFrom("reality_episodes")
    .selectAll()
    .where("check_id", "=", checkId)
    .where("position", ">", after)
    .$if(falseSuccesses, (query) => query.where("simulated", "=", 1).where("real", "=", 0))
    .orderBy("position")
    .limit(limit)
    .execute();
}

/** A replayed episode's row in the newest check that has it, with the check's real environment. */
export async function selectReplayOf(reader: Database, accountId: string, episodeId: string) {
  return await reader
    .selectFrom("reality_episodes as episode")
    .innerJoin("reality_checks as check", "check.id", "episode.check_id")
    .selectAll("episode")
    .select("check.real as real_environment")
    .where("check.account_id", "=", accountId)
    .where("episode.episode_id", "=", episodeId)
    .where("episode.steps", "is not", null)
    .orderBy("check.created_at", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** How many characters `selectRealSteps` returns. */
export async function countRealCharacters(
  reader: Database,
  { check_id, position }: Pick<RealityEpisodesTable, "check_id" | "position">,
) {
  const { characters } = await reader
    .selectFrom("reality_steps")
    .select(sql<number | null>`sum(length(action) + length(observation))`.as("characters"))
    .where("check_id", "=", check_id)
    .where("position", "=", position)
    .executeTakeFirstOrThrow();
  return characters ?? 0;
}

/** What happened in the real environment: the observation before the first action, if known, and the steps. */
export async function selectRealSteps(
  reader: Database,
  { check_id, position }: Pick<RealityEpisodesTable, "check_id" | "position">,
): Promise<{ first: string | undefined; steps: RealityStepsTable[] }> {
  const rows = await reader
    .selectFrom("reality_steps")
    .selectAll()
    .where("check_id", "=", check_id)
    .where("position", "=", position)
    .orderBy("step")
    .execute();
  const [first] = rows;
  return first?.step === 0
    ? { first: first.observation, steps: rows.slice(1) }
    : { first: undefined, steps: rows };
}

/** The reality checks of an environment, or of one of its revisions. */
export interface RevisionChecks {
  accountId: string;
  /** A deleted environment of the same name does not count. */
  environmentId: string;
  environment: string;
  revision?: number | undefined;
}

function checksOf(reader: Database, { accountId, environmentId, environment, revision }: RevisionChecks) {
  return (
    reader
      .selectFrom("reality_checks as check")
      .where("check.account_id", "=", accountId)
      .where("check.environment", "=", environment)
      // Checks stored by earlier versions have only the environment's name.
      .where((of) => of.or([of("environment_id", "=", environmentId), of("environment_id", "is", null)]))
      .$if(revision !== undefined, (query) => query.where("check.environment_revision", "=", revision ?? 0))
  );
}

/** The newest completed check that has an episode and a limit other than `usual`. */
export async function selectLimitedCheck(
  reader: Database,
  wanted: RevisionChecks,
  usual: number | null,
): Promise<(RealityChecksTable & { false_success_limit: number }) | undefined> {
  const row = await checksOf(reader, wanted)
    .selectAll("check")
    .where("check.false_success_limit", "is not", null)
    .$if(usual !== null, (query) => query.where("check.false_success_limit", "!=", usual))
    .where("check.status", "=", "completed")
    .where("check.episodes", ">", 0)
    .orderBy("check.created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && { ...row, false_success_limit: row.false_success_limit ?? 0 };
}

/** The number of the checks' episodes, and figures that change whenever a check is created, is deleted or makes progress. */
export async function countEpisodes(reader: Database, wanted: RevisionChecks) {
  const { episodes, checks, last } = await checksOf(reader, wanted)
    .select(({ fn }) => [
      fn.sum<number | null>("check.episodes").as("episodes"),
      fn.countAll<number>().as("checks"),
      fn.max("check.created_at").as("last"),
    ])
    .executeTakeFirstOrThrow();
  return { episodes: Number(episodes), seen: `${episodes} ${checks} ${last}` };
}

/** The total length of the episodes' lists of verbs: an episode of free texts may have hundreds of verbs. */
export async function sumVerbBytes(reader: Database, wanted: RevisionChecks | string): Promise<number> {
  const ofChecks =
    typeof wanted === "string"
      ? reader.selectFrom("reality_checks as check").where("check.id", "=", wanted)
      : checksOf(reader, wanted);
  const { bytes } = await ofChecks
    .innerJoin("reality_episodes as episode", "episode.check_id", "check.id")
    .select(({ fn }) => fn.sum<number | null>(sql`octet_length(episode.verbs)`).as("bytes"))
    .executeTakeFirstOrThrow();
  return Number(bytes);
}

/** When an episode was checked. Rows of earlier versions lack the time; their check's creation counts instead. */
const checkedAt = sql<Micros>`coalesce(episode.checked_at, "check".created_at)`;

/** An episode's place among those of several checks, in the order in which they were checked. */
export type CheckedPlace = Pick<RealityEpisodesTable, "check_id" | "position"> & { at: Micros };

/** Episodes of these checks in the order in which they were checked, after a place. */
export async function selectInOrder(
  reader: Database,
  wanted: RevisionChecks,
  { after, limit }: { after: CheckedPlace | undefined; limit: number },
) {
  return await checksOf(reader, wanted)
    .innerJoin("reality_episodes as episode", "episode.check_id", "check.id")
    .select(["episode.check_id", "episode.position", "task_id", "episode_id", "policy"])
    .select(["simulated", "episode.real", "checked_at", checkedAt.as("at")])
    .$if(after !== undefined, (query) =>
      query.where(
        sql<SqlBool>`(${checkedAt}, episode.check_id, episode.position) > (${after?.at}, ${after?.check_id}, ${after?.position})`,
      ),
    )
    .orderBy("at")
    .orderBy("episode.check_id")
    .orderBy("episode.position")
    .limit(limit)
    .execute();
}

const ofEpisode = ["task_id", "episode_id", "policy"] as const;
type OfEpisode = Pick<RealityEpisodesTable, (typeof ofEpisode)[number]>;

/** Identifies an episode across checks. */
export function toEpisodeKey({ task_id, episode_id, policy }: OfEpisode): string {
  return JSON.stringify([task_id, episode_id, policy]);
}

/** Episodes that were checked more than once: the number of times, by key. */
export async function selectCheckedAgain(reader: Database, wanted: RevisionChecks) {
  const rows = await checksOf(reader, wanted)
    .innerJoin("reality_episodes", "reality_episodes.check_id", "check.id")
    .select(({ fn }) => [...ofEpisode, fn.countAll<number>().as("times")])
    .where("episode_id", "is not", null)
    .groupBy(ofEpisode)
    .having(({ fn }) => fn.countAll(), ">", 1)
    .execute();
  return new Map(rows.map((row) => [toEpisodeKey(row), row.times]));
}

/** Selects episodes of an environment's checks; absent fields select all. */
export interface EnvironmentEpisodes extends RevisionChecks {
  policy?: string | undefined;
  /** Checked at this time or later. */
  from?: Micros | undefined;
}

/** The newest episodes, up to `most`, of all an environment's checks, in the order of checking; of repeats only the last. */
export async function selectEpisodesOfEnvironment(
  reader: Database,
  { policy, from, ...wanted }: EnvironmentEpisodes,
  most: number,
): Promise<RealityEpisodesTable[]> {
  const rows = await checksOf(reader, wanted)
    .innerJoin("reality_episodes as episode", "episode.check_id", "check.id")
    .selectAll("episode")
    .$if(policy !== undefined, (query) => query.where("episode.policy", "=", policy ?? ""))
    .$if(from !== undefined, (query) => query.where(checkedAt, ">=", from ?? 0))
    .orderBy(checkedAt, "desc")
    .orderBy("episode.check_id", "desc")
    .orderBy("episode.position", "desc")
    .limit(most)
    .execute();
  const seen = new Set<string>();
  const each = rows.filter((row) => {
    if (row.episode_id === null) return true;
    const before = seen.size;
    return seen.add(toEpisodeKey(row)).size > before;
  });
  return each.reverse();
}

/** Deletes a reality check with its episodes. Returns whether there was one. */
export async function deleteCheckRows(transaction: Database, accountId: string, id: string) {
  const { numDeletedRows } = await transaction
    .deleteFrom("reality_checks")
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  if (Number(numDeletedRows) === 0) return false;
  for (const table of ["reality_steps", "reality_replays", "reality_episodes"] as const)
    await transaction.deleteFrom(table).where("check_id", "=", id).execute();
  return true;
}
