import { sql } from "kysely";
import { firstWriterLock } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";

/** Readers add what is not folded yet, so folding is not urgent, but there should never be much to add. */
const foldAfterMs = 2_000;
/** The store has a problem, and nothing is lost by waiting. */
const foldAgainAfterMs = 30_000;

/** Folds new counts into the stored ones. */
export interface Folder {
  /** Call when there are new counts. */
  schedule(): void;
  /** Waits for a fold in progress, and starts no other. Another process, or this one after its next start, folds the rest. */
  stop(): Promise<void>;
}

/** Folds a moment after it was scheduled, once for everything scheduled until then. */
export function foldSoon(fold: () => Promise<void>, onFailure: (error: unknown) => void): Folder {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let isFailing = false;
  let inProgress = Promise.resolve();

  function plan(afterMs: number): void {
    if (isStopped || timer !== undefined) return;
    timer = setTimeout(() => {
      // Counts that arrive from here on need another fold.
      timer = undefined;
      inProgress = inProgress.then(run);
    }, afterMs);
    timer.unref();
  }

  async function run(): Promise<void> {
    try {
      await fold();
      isFailing = false;
    } catch (error) {
      if (!isFailing) onFailure(error);
      isFailing = true;
      plan(foldAgainAfterMs);
    }
  }

  return {
    schedule: () => plan(isFailing ? foldAgainAfterMs : foldAfterMs),
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
const foldLock = sql.raw(`${firstWriterLock} - 2`);

interface Fold {
  from: string;
  into: string;
  keys: readonly string[];
  /** How each other column is merged into an existing row. */
  merged: Readonly<Record<string, "sum" | "least" | "greatest">>;
  /** Columns that are only copied. */
  carried?: readonly string[];
  /** Rows that cannot be folded yet stay where they are. */
  onlyWhere?: string;
}

const folds: readonly Fold[] = [
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
 * Adds up ("folds") what writers appended on PostgreSQL and merges it into the stored counts. Each statement is a transaction of its own,
 * so that a process that stops in the middle neither loses nor locks anything. Of several processes one folds at a time.
 */
export async function foldDeltas(database: Database): Promise<void> {
  for (const fold of folds) {
    let folded = 0;
    for (;;) {
      const some = await foldSome(database, fold);
      folded += some;
      if (some < rowsAtOnce) break;
    }
    // Reclaimed at once, the space of deleted rows is reused and the table stays small.
    if (folded > 0) await sql`vacuum (truncate false, skip_locked) ${sql.ref(fold.from)}`.execute(database);
  }
}

/** Prevents folding until the transaction ends. */
export async function lockFolding(transaction: Database): Promise<void> {
  await sql`select pg_advisory_xact_lock(${foldLock})`.execute(transaction);
}

async function foldSome(
  database: Database,
  { from, into, keys, merged, carried = [], onlyWhere = "true" }: Fold,
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
    with gate as materialized (select pg_try_advisory_xact_lock(${foldLock}) as is_open),
    taken as (
      delete from ${text(from)} where ctid = any(array(
        select ctid from ${text(from)} where (select is_open from gate) and ${text(onlyWhere)} limit ${rowsAtOnce}))
      returning *
    ), folded as (
      insert into ${text(into)} (${text(columns.join(", "))})
      select ${text(values.join(", "))} from taken group by ${text(keys.join(", "))} order by ${text(keys.join(", "))}
      on conflict (${text(keys.join(", "))}) do update set ${text(updates.join(", "))}
    )
    select count(*) as taken from taken`.execute(database);
  return rows[0]?.taken ?? 0;
}

const inAggregate = { sum: "sum", least: "min", greatest: "max" } as const;
