import { type SqlBool, sql } from "kysely";
import { prepareStatement } from "../../platform/storage/prepare-statement.ts";
import type { EpisodesTable } from "../../platform/storage/schema/environments.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";

export type EpisodeProgress = Pick<
  EpisodesTable,
  "id" | "status" | "steps" | "created_at" | "last_active_at"
>;

/** How far an episode is; undefined: there is none. */
export async function selectProgressOfOne(
  database: Database,
  id: string,
): Promise<EpisodeProgress | undefined> {
  return (await progressOfOne(database, [id])).at(0);
}

/** How far each of these episodes is, in one statement; undefined: there is none. PostgreSQL only. */
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
