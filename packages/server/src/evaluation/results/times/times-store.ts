import { sql } from "kysely";
import { isPostgres } from "../../../storage/is-postgres.ts";
import type { Micros } from "../../../storage/micros.ts";
import { numbersPerStretch } from "../../../storage/result-numbers.ts";
import type { EvaluationTimesTable } from "../../../storage/schema/evaluation-results.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { StoredResult } from "../record/evaluation-record.ts";

type Timed = Pick<StoredResult, "id" | "createdAt">;

/** Notes at which times results were kept, so that searches by time find their numbers. */
export async function addTimes(transaction: Database, results: readonly Timed[]): Promise<void> {
  const times = stretchesOf(results);
  if (times.length === 0) return;
  if (isPostgres(transaction)) {
    await transaction.insertInto("evaluation_time_deltas").values(times).execute();
    return;
  }
  await transaction
    .insertInto("evaluation_times")
    .values(times)
    .onConflict((conflict) =>
      conflict.column("stretch").doUpdateSet({
        earliest: sql`min(evaluation_times.earliest, excluded.earliest)`,
        latest: sql`max(evaluation_times.latest, excluded.latest)`,
      }),
    )
    .execute();
}

function stretchesOf(results: readonly Timed[]): EvaluationTimesTable[] {
  const stretches = new Map<number, EvaluationTimesTable>();
  for (const { id, createdAt } of results) {
    const stretch = Math.floor(id / numbersPerStretch);
    const known = stretches.get(stretch);
    stretches.set(stretch, {
      stretch,
      earliest: Math.min(known?.earliest ?? createdAt, createdAt),
      latest: Math.max(known?.latest ?? createdAt, createdAt),
    });
  }
  return [...stretches.values()];
}

/** Ids between which all results of a time lie, and perhaps others; null where every result may be of it. */
export interface IdBounds {
  afterId: number | null;
  beforeId: number | null;
}

/**
 * Times follow ids only roughly, and not at all where a clock was wrong: whole stretches without a result of the time are
 * left out, and each result of the others has to be looked at.
 */
export async function selectIdsAtTimes(
  reader: Database,
  createdAfter: Micros | undefined,
  createdBefore: Micros | undefined,
): Promise<IdBounds> {
  const later = sql`latest > ${createdAfter}`;
  const earlier = sql`earliest < ${createdBefore}`;
  const stretch = (
    which: "min" | "max",
    condition: typeof later,
  ) => sql`(select ${sql.raw(which)}(stretch) from (
    select ${sql.raw(which)}(stretch) as stretch from evaluation_times where ${condition} union all
    select ${sql.raw(which)}(stretch) from evaluation_time_deltas where ${condition}) as stretches)`;
  const size = sql.lit(numbersPerStretch);
  const { rows } = await sql<IdBounds>`select
    ${createdAfter === undefined ? sql`null` : sql`coalesce(${stretch("min", later)} * ${size} - 1, ${noId})`} as "afterId",
    ${createdBefore === undefined ? sql`null` : sql`coalesce((${stretch("max", earlier)} + 1) * ${size}, 0)`} as "beforeId"
  `.execute(reader);
  return rows[0] ?? { afterId: null, beforeId: null };
}

/** Greater than any id. */
const noId = sql.lit(Number.MAX_SAFE_INTEGER);
