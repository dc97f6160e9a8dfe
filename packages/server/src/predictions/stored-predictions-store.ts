import { type Expression, sql } from "kysely";
import { selectClosed } from "../platform/storage/closed-accounts-store.ts";
import type { Micros } from "../platform/storage/columns.ts";
import {
  isAfter,
  isLater,
  type Keyset,
  type KeysetPage,
  type ListPart,
  toListPart,
} from "../platform/storage/lists.ts";
import { insertRows } from "../platform/storage/rows.ts";
import type {
  PredictionContextsTable,
  PredictionPayloadsTable,
  PredictionSource,
  PredictionsTable,
} from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";
import type { StoredRows } from "./stored-rows.ts";

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

/** Columns with their own index, in the order of time. */
const ownIndexes = ["error_category", "deployment", "model", "api_key_id", "request_id"] as const;

type RangeFilter = PredictionFilter & { index: "run" | "own" | "newest" };

/**
 * Filters that together match what one does. Each is a range of one index: of a run's positions, of a column's own index, or of the index
 * of all predictions by source and status.
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

/** The rows of one range. SQLite uses the index with the most equalities, so columns outside this index are hidden from the planner (`+column`). */
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
 * The newest of an account's predictions that match, or the oldest, at most `limit`, with their time and id. SQLite merges ranges while it reads
 * them; PostgreSQL sorts what it has read of each, and reads no more than necessary only if each range has the limit.
 */
function selectNewestMatching<Column extends keyof PredictionsTable>(
  reader: Database,
  accountId: string,
  filter: PredictionFilter,
  {
    columns,
    limit,
    after,
    isOldestFirst = false,
  }: Omit<OrderedPage, "after"> & {
    columns: readonly Column[];
    after?: Keyset | undefined;
  },
) {
  const direction = isOldestFirst ? "asc" : "desc";
  const isBehind = isOldestFirst ? isLater : isAfter;
  const read = [...new Set<Column | "created_at" | "id">([...columns, "created_at", "id"])];
  const part = (range: RangeFilter) => {
    const rows = selectRange(reader, accountId, range)
      .select(read)
      .where(after === undefined ? sql.lit(true) : isBehind(after))
      .$if(isPostgres(reader), (query) =>
        query.orderBy("created_at", direction).orderBy("id", direction).limit(limit),
      );
    return reader.selectFrom(rows.as("predictions")).selectAll();
  };
  const [first, ...others] = rangesOf(filter);
  const all = others.reduce((union, range) => union.unionAll(part(range)), part(first));
  return reader
    .selectFrom(all.as("predictions"))
    .selectAll()
    .orderBy(sql`created_at`, direction)
    .orderBy(sql`id`, direction)
    .limit(limit);
}

export type StoredPredictionRow = Omit<PredictionsTable, "account_id">;
export type StoredPayload = Omit<PredictionPayloadsTable, "prediction_id" | "context_digest"> & {
  context: string | null;
};

const columns = [
  "id",
  "source",
  "created_at",
  "run_id",
  "position",
  "repeat",
  "status",
  "error_category",
  "deployment",
  "model",
  "sent_model",
  "replica",
  "finish_reason",
  "prompt_tokens",
  "cached_tokens",
  "completion_tokens",
  "latency_micros",
  "score",
  "confidence",
  "api_key_id",
  "request_id",
] as const;

/** Stores predictions, except those that are stored already or whose account is closed, with the contexts that are not stored yet. */
export async function insertLivePredictions(database: Database, rows: StoredRows): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const { predictions, payloads, contexts } = await withoutClosed(transaction, rows);
    await insertContexts(transaction, contexts);
    await insertRows(transaction, "predictions", predictions, "on conflict (id) do nothing");
    await insertRows(transaction, "prediction_payloads", payloads, "on conflict (prediction_id) do nothing");
  });
}

async function withoutClosed(transaction: Database, rows: StoredRows): Promise<StoredRows> {
  const { predictions, payloads, contexts } = rows;
  const closed = await selectClosed(
    transaction,
    predictions.map(({ account_id }) => account_id),
  );
  if (closed.size === 0) return rows;
  const isOpen = ({ account_id }: { account_id: string }) => !closed.has(account_id);
  const stored = new Set(predictions.filter(isOpen).map(({ id }) => id));
  return {
    predictions: predictions.filter(isOpen),
    payloads: payloads.filter(({ prediction_id }) => stored.has(prediction_id)),
    contexts: contexts.filter(isOpen),
  };
}

/**
 * Contexts are long and few, so stored ones are not sent again. On PostgreSQL they are locked against deletion until the transaction ends;
 * the update locks those that another process stores at the same time.
 */
async function insertContexts(transaction: Database, contexts: readonly PredictionContextsTable[]) {
  const ofAccounts = Map.groupBy(contexts, ({ account_id }) => account_id);
  const known = new Set<string>();
  for (const [accountId, some] of [...ofAccounts].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const found = await transaction
      .selectFrom("prediction_contexts")
      .select("digest")
      .where("account_id", "=", accountId)
      .where(
        "digest",
        "in",
        some.map(({ digest }) => digest),
      )
      .orderBy("digest")
      .$if(isPostgres(transaction), (query) => query.forKeyShare())
      .execute();
    for (const { digest } of found) known.add(digest);
  }
  const missing = contexts
    .filter(({ digest }) => !known.has(digest))
    .sort((a, b) => (a.digest < b.digest ? -1 : 1));
  await insertRows(
    transaction,
    "prediction_contexts",
    missing,
    "on conflict (account_id, digest) do update set digest = excluded.digest",
  );
}

interface OrderedPage extends KeysetPage {
  isOldestFirst?: boolean;
}

/** An account's predictions, newest first unless the page says otherwise. */
export async function selectPredictions(
  reader: Database,
  accountId: string,
  filter: PredictionFilter,
  page: OrderedPage,
): Promise<ListPart<StoredPredictionRow>> {
  const { limit } = page;
  // A row beyond the page means that there is another page.
  const rows = await selectNewestMatching(reader, accountId, filter, {
    columns,
    ...page,
    limit: limit + 1,
  }).execute();
  return toListPart(rows, limit);
}

/** How many of an account's predictions match, but no more than `most`. */
export async function countPredictions(
  reader: Database,
  accountId: string,
  filter: PredictionFilter,
  most: number,
): Promise<number> {
  const some = selectNewestMatching(reader, accountId, filter, { columns: [], limit: most }).as("some");
  const { count } = await reader
    .selectFrom(some)
    .select((of) => of.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

export async function selectPrediction(
  reader: Database,
  accountId: string,
  id: string,
): Promise<(StoredPredictionRow & { characters: number }) | undefined> {
  return await joinPayload(reader, accountId, id)
    .select(columns.map((column) => `prediction.${column}` as const))
    .select(
      sql<number>`coalesce(length(request), 0) + coalesce(length(output), 0) + coalesce(length(reasoning), 0)
        + coalesce(length(error_message), 0) + coalesce(length(context), 0)`.as("characters"),
    )
    .executeTakeFirst();
}

export async function selectPayload(
  reader: Database,
  accountId: string,
  id: string,
): Promise<StoredPayload | undefined> {
  return await joinPayload(reader, accountId, id)
    .select(["request", "output", "reasoning", "error_message", "context"])
    .executeTakeFirst();
}

/** The beginning of what some predictions said, or of why they failed, by their ids. */
export async function selectBeginnings(
  reader: Database,
  ids: readonly string[],
  maxCharacters: number,
): Promise<Map<string, Beginning>> {
  if (ids.length === 0) return new Map();
  const rows = await reader
    .selectFrom("prediction_payloads")
    .select((of) => [
      "prediction_id",
      beginningOf(of.ref("output"), maxCharacters).as("output"),
      beginningOf(of.ref("error_message"), maxCharacters).as("error_message"),
    ])
    .where("prediction_id", "in", ids)
    .execute();
  return new Map(rows.map(({ prediction_id, ...beginning }) => [prediction_id, beginning]));
}

export type Beginning = Pick<StoredPayload, "output" | "error_message">;

function beginningOf(text: Expression<string | null>, maxCharacters: number) {
  return sql<string | null>`substr(${text}, 1, ${maxCharacters})`;
}

function joinPayload(reader: Database, accountId: string, id: string) {
  return reader
    .selectFrom("predictions as prediction")
    .leftJoin("prediction_payloads as payload", "payload.prediction_id", "prediction.id")
    .leftJoin("prediction_contexts as context_of", (join) =>
      join
        .onRef("context_of.account_id", "=", "prediction.account_id")
        .onRef("context_of.digest", "=", "payload.context_digest"),
    )
    .where("prediction.id", "=", id)
    .where("prediction.account_id", "=", accountId);
}

/** Columns whose values can be chosen as filters. */
export const countedColumns = [
  "source",
  "status",
  "error_category",
  "deployment",
  "model",
  "api_key_id",
] as const satisfies (keyof PredictionFilter)[];

const maxValues = 100;

export type CountedColumn = (typeof countedColumns)[number];

export interface ValueCount {
  column: CountedColumn;
  value: string;
  count: number;
}

/** The values of some columns among an account's newest predictions that match, read once. The most frequent of each come first. */
export async function selectValueCounts(
  reader: Database,
  accountId: string,
  { columns, filter, most }: { columns: readonly CountedColumn[]; filter: PredictionFilter; most: number },
): Promise<ValueCount[]> {
  if (columns.length === 0) return [];
  const newest = selectNewestMatching(reader, accountId, filter, { columns, limit: most });
  const counted = columns.map(
    (column) => sql`select * from (
      select ${sql.lit(column)} as "column", ${sql.ref(column)} as value, count(*) as count from newest
      where ${sql.ref(column)} is not null group by ${sql.ref(column)}
      order by count desc, value limit ${sql.lit(maxValues)}) as ${sql.id(`of_${column}`)}`,
  );
  const { rows } =
    await sql<ValueCount>`with newest as ${newest} ${sql.join(counted, sql` union all `)}`.execute(reader);
  return rows;
}

/** Quantiles, by nearest rank, of the latencies of the newest predictions that match and succeeded. */
export async function selectQuantiles(
  reader: Database,
  accountId: string,
  filter: PredictionFilter,
  most: number,
): Promise<{ p50: Micros; p95: Micros } | undefined> {
  const newest = selectNewestMatching(reader, accountId, filter, {
    columns: ["status", "latency_micros"],
    limit: most,
  });
  const { rows } = await sql<{ p50: Micros | null; p95: Micros | null }>`with newest as ${newest},
    ranked as (
      select latency_micros, row_number() over (order by latency_micros) as place, count(*) over () as places
      from newest where status = 'success' and latency_micros is not null)
    select min(case when place * 100 >= places * 50 then latency_micros end) as p50,
      min(case when place * 100 >= places * 95 then latency_micros end) as p95 from ranked`.execute(reader);
  const { p50 = null, p95 = null } = rows[0] ?? {};
  return p50 === null || p95 === null ? undefined : { p50, p95 };
}
