import { sql } from "kysely";
import { databaseNow, maxSkewMs } from "../platform/storage/clock.ts";
import { type Micros, microsPerMs, numbersPerStretch } from "../platform/storage/columns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";
import { countableColumns } from "./write/counts-store.ts";

/** Later times count as in the future. */
export function lastSoundTime(now: Micros): Micros {
  return now + maxSkewMs * microsPerMs;
}

/** How many results are dated in the future, up to a bound. If there are none, that is one index lookup. */
export async function countFutureResults(database: Database, bound: number) {
  const { rows } = await sql<{ count: number }>`select count(*) as count from (
    select id from evaluation_results where created_at > ${databaseNow(database)} + ${maxSkewMs * microsPerMs}
    limit ${bound}) as future`.execute(database);
  return rows[0]?.count ?? 0;
}

/** Number, ids and times of results dated after `lastSound`. */
export async function describeFuture(database: Database, lastSound: Micros) {
  return await database
    .selectFrom("evaluation_results")
    .select(({ fn }) => [
      fn.countAll<number>().as("count"),
      fn.min("id").as("firstId"),
      fn.max("id").as("lastId"),
      fn.min("created_at").as("earliest"),
      fn.max("created_at").as("latest"),
    ])
    .where("created_at", ">", lastSound)
    .executeTakeFirstOrThrow();
}

/** Some of the results dated after `lastSound`, by ascending id, locked until the transaction ends. */
export async function lockFutureResults(transaction: Database, lastSound: Micros, limit: number) {
  const query = transaction
    .selectFrom("evaluation_results")
    .select(countableColumns)
    .where("created_at", ">", lastSound)
    .orderBy("created_at")
    .orderBy("id")
    .limit(limit);
  const rows = await (isPostgres(transaction) ? query.forUpdate() : query).execute();
  return rows.sort((a, b) => a.id - b.id);
}

/** The time of the nearest earlier result not dated after `lastSound`, otherwise of the nearest later one. */
export async function selectSoundTimeNear(
  database: Database,
  id: number,
  lastSound: Micros,
): Promise<Micros | undefined> {
  const nearest = (direction: "desc" | "asc") =>
    database
      .selectFrom("evaluation_results")
      .select("created_at")
      .where("id", direction === "desc" ? "<" : ">", id)
      .where("created_at", "<=", lastSound)
      .orderBy("id", direction)
      .limit(1)
      .executeTakeFirst();
  return ((await nearest("desc")) ?? (await nearest("asc")))?.created_at;
}

export async function setTime(transaction: Database, ids: readonly number[], createdAt: Micros) {
  await transaction
    .updateTable("evaluation_results")
    .set({ created_at: createdAt })
    .where("id", "in", ids)
    .execute();
}

/** Recomputes the time ranges of the stretches of these results. No process may merge counts meanwhile. */
export async function recomputeTimes(transaction: Database, ids: readonly number[]) {
  const stretches = new Set(ids.map((id) => Math.floor(id / numbersPerStretch)));
  for (const stretch of stretches) {
    const results = transaction
      .selectFrom("evaluation_results")
      .where("id", ">=", stretch * numbersPerStretch)
      .where("id", "<", (stretch + 1) * numbersPerStretch);
    await transaction
      .updateTable("evaluation_times")
      .set({
        earliest: results.select(({ fn }) => fn.min("created_at").as("earliest")),
        latest: results.select(({ fn }) => fn.max("created_at").as("latest")),
      })
      .where("stretch", "=", stretch)
      .execute();
  }
}

/** What error-taxonomy results store as JSON beside their verdict, by id. */
export async function selectAdditionalInfo(
  database: Database,
  ids: readonly number[],
): Promise<Map<number, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await database
    .selectFrom("evaluation_payloads")
    .select(["result_id", "additional_info"])
    .where("result_id", "in", ids)
    .execute();
  return new Map(rows.map(({ result_id, additional_info }) => [result_id, additional_info]));
}

/** Some of the corrections dated after `lastSound`, the earliest first. */
export async function selectFutureCorrections(database: Database, lastSound: Micros, limit: number) {
  return await database
    .selectFrom("evaluation_corrections as correction")
    .innerJoin("evaluation_results as result", "result.id", "correction.result_id")
    .select(["correction.id", "correction.result_id", "result.created_at"])
    .where("correction.created_at", ">", lastSound)
    .orderBy("correction.created_at")
    .orderBy("correction.id")
    .limit(limit)
    .execute();
}

export async function setCorrectionTime(database: Database, id: string, createdAt: Micros) {
  await database
    .updateTable("evaluation_corrections")
    .set({ created_at: createdAt })
    .where("id", "=", id)
    .execute();
}
