import { sql } from "kysely";
import type { Logger } from "../platform/observability/logger.ts";
import { databaseNow, findClockSkew, maxSkewMs } from "../platform/storage/clock.ts";
import { type Micros, microsPerMs, numbersPerStretch, toIsoInstant } from "../platform/storage/columns.ts";
import { type Looker, startLooking } from "../platform/storage/leases.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";
import { selectCorrectedAt } from "./corrections-store.ts";
import { addErrorFindings, recountErrorFindings } from "./error-findings-store.ts";
import { lockRollUp, resetTagRollup } from "./summary/tags.ts";
import { addCounted, countableColumns, recount } from "./write/counts-store.ts";
import { lockMerging, mergeCounts } from "./write/merge-counts.ts";

/** Few enough that no other writer waits long for the transaction. */
const resultsAtOnce = 200;

const usuallyEveryMs = 60_000;

/** Beyond this number, the exact count does not matter. */
const mostCounted = 10_000;

/** No result has a time that those dated in the future could take. */
export class NoSoundTimeError extends Error {
  constructor() {
    super("All results are dated in the future. More likely, the clock is wrong.");
    this.name = "NoSoundTimeError";
  }
}

/**
 * Gives results dated after `lastSound` the time of their nearest earlier neighbour that is not, and counts them in that day. Works in
 * batches, each in its own transaction, so that another run resumes where the last one stopped. Returns the number of results.
 */
export async function mendTimes(database: Database, lastSound: Micros): Promise<number> {
  if (isPostgres(database)) await mergeCounts(database);
  let mended = 0;
  for (;;) {
    const some = await database.transaction().execute((transaction) => mendSome(transaction, lastSound));
    mended += some;
    if (some < resultsAtOnce) return mended;
  }
}

/** The same for corrections. Those of one result keep their order. */
export async function mendCorrections(database: Database, lastSound: Micros): Promise<number> {
  let mended = 0;
  for (;;) {
    const some = await selectFutureCorrections(database, lastSound, resultsAtOnce);
    for (const { id, result_id, created_at } of some) {
      const last = await selectCorrectedAt(database, result_id, lastSound);
      const soundTime = Math.max(created_at, last ?? 0) + 1;
      const correction = database.updateTable("evaluation_corrections").where("id", "=", id);
      await correction.set({ created_at: soundTime }).execute();
    }
    mended += some.length;
    if (some.length < resultsAtOnce) return mended;
  }
}

/** Logs when clocks begin to differ, when results are dated in the future, and when either ends. Checks now, then every minute. */
export function watchClocks(
  database: Database,
  logger: Pick<Logger, "warn" | "info">,
  everyMs = usuallyEveryMs,
): Pick<Looker, "stop"> {
  let isSkewed = false;
  let hasFuture = false;

  async function check(): Promise<void> {
    const skew = await findClockSkew(database);
    if (skew !== undefined && !isSkewed) {
      const clocks = { own: toIsoInstant(skew.own), database: toIsoInstant(skew.database) };
      logger.warn(clocks, "the clocks of this machine and of the database differ by more than a minute");
    } else if (skew === undefined && isSkewed) logger.info("the clocks agree again");
    isSkewed = skew !== undefined;

    const count = await countFutureResults(database, mostCounted);
    if (count > 0 && !hasFuture) {
      const results = count === mostCounted ? `${mostCounted} or more` : count;
      logger.warn(
        { results },
        "results are dated in the future because a clock was wrong; run `presage results repair-times` to correct them",
      );
    } else if (count === 0 && hasFuture) logger.info("no result is dated in the future any longer");
    hasFuture = count > 0;
  }

  // An unavailable database is logged elsewhere.
  return startLooking({ look: check, intervalMs: everyMs, onFailure: () => {} });
}

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

async function mendSome(transaction: Database, lastSound: Micros): Promise<number> {
  if (isPostgres(transaction)) await lockMerging(transaction);
  // Before the rows, as when results are deleted.
  await lockRollUp(transaction);
  const rows = await lockFutureResults(transaction, lastSound, resultsAtOnce);
  const ids = rows.map(({ id }) => id);
  const info = await selectAdditionalInfo(
    transaction,
    rows.flatMap((row) => (row.evaluator_family === "error-taxonomy" ? [row.id] : [])),
  );
  const after: typeof rows = [];
  for (const row of rows) {
    const last = after.at(-1);
    const created_at =
      last?.id === row.id - 1 ? last.created_at : await selectSoundTimeNear(transaction, row.id, lastSound);
    if (created_at === undefined) throw new NoSoundTimeError();
    after.push({ ...row, created_at });
  }
  const withInfo = (some: typeof rows) =>
    some.map((row) => ({ row, texts: { additional_info: info.get(row.id) ?? null } }));
  for (const [createdAt, same] of Map.groupBy(after, ({ created_at }) => created_at)) {
    const ids = same.map(({ id }) => id);
    await transaction
      .updateTable("evaluation_results")
      .set({ created_at: createdAt })
      .where("id", "in", ids)
      .execute();
  }
  await addCounted(transaction, recount(rows, after));
  await addErrorFindings(transaction, recountErrorFindings(withInfo(rows), withInfo(after)));
  await recomputeTimes(transaction, ids);
  if (rows.length > 0) await resetTagRollup(transaction);
  return rows.length;
}

/** Some of the results dated after `lastSound`, by ascending id, locked until the transaction ends. */
async function lockFutureResults(transaction: Database, lastSound: Micros, limit: number) {
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
async function selectSoundTimeNear(
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

/** Recomputes the time ranges of the stretches of these results. No process may merge counts meanwhile. */
async function recomputeTimes(transaction: Database, ids: readonly number[]) {
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

/** The JSON that error-taxonomy results store alongside their verdict, by id. */
async function selectAdditionalInfo(
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

/** Some of the corrections dated after `lastSound`, earliest first, unless their result is too: those could get no sound time. */
async function selectFutureCorrections(database: Database, lastSound: Micros, limit: number) {
  return await database
    .selectFrom("evaluation_corrections as correction")
    .innerJoin("evaluation_results as result", "result.id", "correction.result_id")
    .select(["correction.id", "correction.result_id", "result.created_at"])
    .where("correction.created_at", ">", lastSound)
    .where("result.created_at", "<=", lastSound)
    .orderBy("correction.created_at")
    .orderBy("correction.id")
    .limit(limit)
    .execute();
}
