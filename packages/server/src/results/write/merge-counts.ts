import { sql } from "kysely";
import { firstWriterLock } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";

/** Readers add what is not merged yet, so merging is not urgent, but there should never be much to add. */
const mergeAfterMs = 2_000;
/** The store has a problem, and nothing is lost by waiting. */
const mergeAgainAfterMs = 30_000;

/** Merges new counts into the stored ones. */
export interface CountsMerger {
  /** Call when there are new counts. */
  schedule(): void;
  /** Waits for a merge in progress, and starts no other. Another process, or this one after its next start, merges the rest. */
  stop(): Promise<void>;
}

/** Merges a moment after it was scheduled, once for everything scheduled until then. */
export function mergeSoon(merge: () => Promise<void>, onFailure: (error: unknown) => void): CountsMerger {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let isFailing = false;
  let inProgress = Promise.resolve();

  function plan(afterMs: number): void {
    if (isStopped || timer !== undefined) return;
    timer = setTimeout(() => {
      // Counts that arrive from here on need another merge.
      timer = undefined;
      inProgress = inProgress.then(run);
    }, afterMs);
    timer.unref();
  }

  async function run(): Promise<void> {
    try {
      await merge();
      isFailing = false;
    } catch (error) {
      if (!isFailing) onFailure(error);
      isFailing = true;
      plan(mergeAgainAfterMs);
    }
  }

  return {
    schedule: () => plan(isFailing ? mergeAgainAfterMs : mergeAfterMs),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await inProgress;
    },
  };
}

/** A statement of this many rows takes some tens of milliseconds. */
const rowsAtOnce = 5_000;
/** Next to the locks of writers. The number below it belongs to processes of the previous version. */
const mergeLock = sql.raw(`${firstWriterLock} - 2`);

interface Merge {
  from: string;
  into: string;
  keys: readonly string[];
  /** How each other column is merged into an existing row. */
  merged: Readonly<Record<string, "sum" | "least" | "greatest">>;
  /** Columns that are only copied. */
  carried?: readonly string[];
  /** Rows that cannot be merged yet stay where they are. */
  onlyWhere?: string;
}

const merges: readonly Merge[] = [
  {
    from: "evaluation_count_deltas",
    into: "evaluation_counts",
    keys: ["series_id", "day", "verdict", "score_mille"],
    merged: { count: "sum", score_sum: "sum", score_sum_of_squares: "sum" },
    // Writers add the series first. A database that lost its last transactions may lack one until the next writer adds it.
    onlyWhere: "exists (select from evaluation_series where id = series_id)",
  },
  {
    from: "error_finding_count_deltas",
    into: "error_finding_counts",
    keys: ["account_id", "revision_id", "day", "path_id"],
    merged: { count: "sum" },
    carried: ["path"],
  },
  {
    from: "evaluation_time_deltas",
    into: "evaluation_times",
    keys: ["stretch"],
    merged: { earliest: "least", latest: "greatest" },
  },
];

/**
 * Adds up what writers appended on PostgreSQL and merges it into the stored counts. Each statement is its own transaction, so that a
 * process that stops in the middle neither loses nor locks anything. Only one process merges at a time.
 */
export async function mergeCounts(database: Database): Promise<void> {
  for (const merge of merges) {
    let moved = 0;
    for (;;) {
      const some = await mergeSome(database, merge);
      moved += some;
      if (some < rowsAtOnce) break;
    }
    // Reclaims the space of deleted rows immediately, so that it is reused and the table stays small.
    if (moved > 0) await sql`vacuum (truncate false, skip_locked) ${sql.ref(merge.from)}`.execute(database);
  }
}

/** Prevents merging until the transaction ends. */
export async function lockMerging(transaction: Database): Promise<void> {
  await sql`select pg_advisory_xact_lock(${mergeLock})`.execute(transaction);
}

async function mergeSome(
  database: Database,
  { from, into, keys, merged, carried = [], onlyWhere = "true" }: Merge,
): Promise<number> {
  const columns = [...keys, ...carried, ...Object.keys(merged)];
  const values = [
    ...keys,
    ...carried.map((column) => `min(${column})`),
    ...Object.entries(merged).map(([column, how]) => `${inAggregate[how]}(${column})`),
  ];
  const updates = Object.entries(merged).map(([column, how]) =>
    how === "sum"
      ? `${column} = ${into}.${column} + excluded.${column}`
      : `${column} = ${how}(${into}.${column}, excluded.${column})`,
  );
  const text = sql.raw;
  const { rows } = await sql<{ taken: number }>`
    with gate as materialized (select pg_try_advisory_xact_lock(${mergeLock}) as is_open),
    taken as (
      delete from ${text(from)} where ctid = any(array(
        select ctid from ${text(from)} where (select is_open from gate) and ${text(onlyWhere)} limit ${rowsAtOnce}))
      returning *
    ), merged as (
      insert into ${text(into)} (${text(columns.join(", "))})
      select ${text(values.join(", "))} from taken group by ${text(keys.join(", "))} order by ${text(keys.join(", "))}
      on conflict (${text(keys.join(", "))}) do update set ${text(updates.join(", "))}
    )
    select count(*) as taken from taken`.execute(database);
  return rows[0]?.taken ?? 0;
}

const inAggregate = { sum: "sum", least: "min", greatest: "max" } as const;
