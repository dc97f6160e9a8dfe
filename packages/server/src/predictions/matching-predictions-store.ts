import { sql } from "kysely";
import { isPostgres } from "../platform/storage/is-postgres.ts";
import { isAfter, type Keyset } from "../platform/storage/keyset.ts";
import type { Micros } from "../platform/storage/micros.ts";
import type { PredictionSource, PredictionsTable } from "../platform/storage/schema/predictions.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

export interface PredictionFilter
  extends Partial<
    Pick<
      PredictionsTable,
      "source" | "run_id" | "status" | "error_category" | "deployment" | "model" | "api_key_id" | "request_id"
    >
  > {
  /** Inclusive. */
  from?: Micros;
  /** Exclusive. */
  to?: Micros;
}

const sources = Object.keys({ live: true, run: true, episode: true } satisfies Record<
  PredictionSource,
  true
>) as PredictionSource[];
const statuses = Object.keys({ success: true, failed: true } satisfies Record<
  PredictionsTable["status"],
  true
>) as PredictionsTable["status"][];

/** Columns with an index of their own, in the order of time. */
const ownIndexes = ["error_category", "deployment", "model", "api_key_id", "request_id"] as const;

type RangeFilter = PredictionFilter & { index: "run" | "own" | "newest" };

/**
 * Filters that together match what one does. Each is a range of one index: of the positions of a run, of a column's own, or of all
 * predictions, which are there by source and status.
 */
export function rangesOf(filter: PredictionFilter): [RangeFilter, ...RangeFilter[]] {
  if (filter.run_id !== undefined) return [{ ...filter, index: "run" }];
  if (ownIndexes.some((column) => filter[column] !== undefined)) return [{ ...filter, index: "own" }];
  const [first, ...others] = (filter.source === undefined ? sources : [filter.source]).flatMap((source) =>
    (filter.status === undefined ? statuses : [filter.status]).map(
      (status): RangeFilter => ({ ...filter, source, status, index: "newest" }),
    ),
  );
  if (first === undefined) throw new Error("No source or status is wanted");
  return [first, ...others];
}

/** The rows of one range. SQLite takes the index with most equalities, so those that this index has not are hidden from it. */
export function selectRange(reader: Database, accountId: string, { from, to, index, ...equal }: RangeFilter) {
  const isInIndex = {
    run: (name: string) => name === "run_id",
    own: (name: string) => name !== "source" && name !== "status",
    newest: () => true,
  }[index];
  let query = reader.selectFrom("predictions");
  for (const [name, value] of Object.entries({ account_id: accountId, ...equal })) {
    const column = sql.ref<string>(name);
    query = query.where(isPostgres(reader) || isInIndex(name) ? column : sql<string>`+${column}`, "=", value);
  }
  if (from !== undefined) query = query.where("created_at", ">=", from);
  if (to !== undefined) query = query.where("created_at", "<", to);
  return query;
}

/**
 * The newest of an account's predictions that match, at most `limit`, with their time and id. SQLite merges ranges while it reads
 * them; PostgreSQL sorts what it has read of each, and reads no more than is needed only if each has the limit.
 */
export function selectNewestMatching<Column extends keyof PredictionsTable>(
  reader: Database,
  accountId: string,
  filter: PredictionFilter,
  { columns, limit, after }: { columns: readonly Column[]; limit: number; after?: Keyset | undefined },
) {
  const read = [...new Set<Column | "created_at" | "id">([...columns, "created_at", "id"])];
  const part = (range: RangeFilter) => {
    const rows = selectRange(reader, accountId, range)
      .select(read)
      .where(after === undefined ? sql.lit(true) : isAfter(after))
      .$if(isPostgres(reader), (query) =>
        query.orderBy("created_at", "desc").orderBy("id", "desc").limit(limit),
      );
    return reader.selectFrom(rows.as("predictions")).selectAll();
  };
  const [first, ...others] = rangesOf(filter);
  const all = others.reduce((union, range) => union.unionAll(part(range)), part(first));
  return reader
    .selectFrom(all.as("predictions"))
    .selectAll()
    .orderBy(sql`created_at`, "desc")
    .orderBy(sql`id`, "desc")
    .limit(limit);
}
