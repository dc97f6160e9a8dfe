import { sql } from "kysely";
import { mostSkewMs } from "../../../storage/clock-skew.ts";
import { databaseNow } from "../../../storage/database-clock.ts";
import { isPostgres } from "../../../storage/is-postgres.ts";
import { type Micros, microsPerMs } from "../../../storage/micros.ts";
import { numbersPerStretch } from "../../../storage/result-numbers.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import { countableColumns } from "../keep/countable-results-store.ts";

/** The latest time that is no future yet. */
export function lastSoundTime(now: Micros): Micros {
  return now + mostSkewMs * microsPerMs;
}

/** How many results are dated in the future, up to a bound. Where there are none, that is one look at an index. */
export async function countFutureResults(database: Database, bound: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from (
    select id from evaluation_results where created_at > ${databaseNow(database)} + ${mostSkewMs * microsPerMs}
    limit ${bound}) as future`.execute(database);
  return rows[0]?.count ?? 0;
}

/** What there is of results that are dated later than this. */
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

/** Some of the results that are dated later than this, ascending. The transaction holds them until it ends. */
export async function holdFutureResults(transaction: Database, lastSound: Micros, limit: number) {
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

/** The time of the nearest result before this one that is not dated later than that, else of the nearest one behind it. */
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

export async function setTime(
  transaction: Database,
  ids: readonly number[],
  createdAt: Micros,
): Promise<void> {
  await transaction
    .updateTable("evaluation_results")
    .set({ created_at: createdAt })
    .where("id", "in", ids)
    .execute();
}

/** Reads anew between which times the stretches of these results lie. Nobody may fold meanwhile. */
export async function readTimesAnew(transaction: Database, ids: readonly number[]): Promise<void> {
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

/** What error-taxonomy results found, as JSON beside their verdict, by id. */
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

/** Some corrections that are dated later than this, the earliest first. */
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

/** When a result was last corrected, by corrections that are not dated later than this. */
export async function selectSoundCorrectionTime(
  database: Database,
  resultId: number,
  lastSound: Micros,
): Promise<Micros | undefined> {
  const row = await database
    .selectFrom("evaluation_corrections")
    .select("created_at")
    .where("result_id", "=", resultId)
    .where("created_at", "<=", lastSound)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.created_at;
}

export async function setCorrectionTime(database: Database, id: string, createdAt: Micros): Promise<void> {
  await database
    .updateTable("evaluation_corrections")
    .set({ created_at: createdAt })
    .where("id", "=", id)
    .execute();
}
