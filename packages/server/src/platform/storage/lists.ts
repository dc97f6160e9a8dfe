import { type Expression, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from "kysely";
import { ServiceError } from "../errors.ts";
import { inMegabytes } from "../limits/memory.ts";
import type { Micros } from "./columns.ts";
import type { Database } from "./schema/tables.ts";
import { isPostgres } from "./store.ts";

/** A JSON list of texts, each truncated to `maxCharacters`, as JSON. */
export function cutJsonTexts(
  database: Database,
  list: Expression<string | null>,
  maxCharacters: number,
): RawBuilder<string | null> {
  const cut = isPostgres(database)
    ? sql`(select json_agg(substr(text, 1, ${maxCharacters}) order by place)::text
        from json_array_elements_text(${list}::json) with ordinality as texts (text, place))`
    : sql`(select json_group_array(substr(value, 1, ${maxCharacters})) from json_each(${list}))`;
  // 4 for brackets and quotes: no text of a shorter list is too long.
  return sql`case when length(${list}) > ${maxCharacters} + 4 then ${cut} else ${list} end`;
}

/** The position in a list, newest first, after which a page starts: the row with this time and id. */
export interface Keyset {
  createdAt: Micros;
  id: string;
}

export interface KeysetPage {
  limit: number;
  after: Keyset | undefined;
}

/** A page of a list, and where the next one starts if there is one. */
export interface ListPart<Row> {
  rows: Row[];
  next: Keyset | undefined;
}

/** The condition of a page, in a form that an index on time and id serves. */
export function isAfter({ createdAt, id }: Keyset, of = sql``) {
  return sql<SqlBool>`(${of}created_at, ${of}id) < (${createdAt}, ${id})`;
}

/** Like `isAfter`, for a list with the oldest first. */
export function isLater({ createdAt, id }: Keyset) {
  return sql<SqlBool>`(created_at, id) > (${createdAt}, ${id})`;
}

/** A page of a query, newest first, plus one row. `table` has the time and the id. */
export function newestFirst<DB, Table extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, Table, Row>,
  { limit, after }: KeysetPage,
  table?: string,
) {
  const of = table === undefined ? sql`` : sql`${sql.ref(table)}.`;
  return (after === undefined ? query : query.where(isAfter(after, of)))
    .orderBy(sql`${of}created_at`, "desc")
    .orderBy(sql`${of}id`, "desc")
    .limit(limit + 1);
}

/** A page of what a query selects, newest first. */
export async function selectNewestFirst<
  DB,
  Table extends keyof DB,
  Row extends { id: string; created_at: Micros },
>(query: SelectQueryBuilder<DB, Table, Row>, page: KeysetPage, table?: string): Promise<ListPart<Row>> {
  return toListPart((await newestFirst(query, page, table).execute()) as Row[], page.limit);
}

/** A row beyond `limit` means that there is another page. */
export function toListPart<Row extends { id: string; created_at: Micros }>(
  rows: Row[],
  limit: number,
): ListPart<Row> {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    rows: rows.slice(0, limit),
    next: last === undefined ? undefined : { createdAt: last.created_at, id: last.id },
  };
}

/** A page of rows below a number, the highest first. */
export interface NumberedPage {
  limit: number;
  below: number | undefined;
}

/** The page of rows that were selected with one row more than its limit, and the number below which the next page starts. */
export function toNumberedPart<Row>(
  rows: readonly Row[],
  { limit }: NumberedPage,
  numberOf: (row: Row) => number,
): { rows: Row[]; next: string | null } {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { rows: rows.slice(0, limit), next: last === undefined ? null : String(numberOf(last)) };
}

/** The limits of one read. While a text crosses threads and is serialised, it takes several times its size in memory. */
const piece = { maxIds: 100, maxBytes: 1_000_000 };
const maxPageBytes = 64_000_000;

/** Items that are read lazily, a piece at a time. */
export interface Pieces<Item> {
  count: number;
  /** The approximate size of the largest piece. */
  maxBytes: number;
  read(): AsyncGenerator<Item[], void>;
}

/** Items in the order of their ids, in pieces of about a megabyte. A larger item is a piece by itself. */
export function readInPieces<Id, Item>(
  ids: readonly Id[],
  bytesOf: ReadonlyMap<Id, number>,
  read: (ids: readonly Id[]) => Promise<Item[]>,
): Pieces<Item> {
  const pieces = splitByBytes(ids, bytesOf, piece);
  return {
    count: pieces.length,
    maxBytes: pieces.reduce((most, some) => Math.max(most, sumOf(some.map((id) => bytesOf.get(id) ?? 0))), 0),
    async *read() {
      for (const some of pieces) yield await read(some);
    },
  };
}

export const idOf = ({ id }: { id: string }) => id;

/** Items of these sizes in their order, without those deleted meanwhile, and then `rest`, which is in memory. */
export function readListed<Size extends { bytes: number }, Item>(
  sizes: readonly Size[],
  keyOf: (one: Size | Item) => unknown,
  read: (some: readonly Size[]) => Promise<Item[]>,
  rest: readonly Item[] = [],
): Pieces<Item> {
  const bytesOf = new Map<Size | Item, number>(sizes.map((size) => [size, size.bytes]));
  return readInPieces([...sizes, ...rest], bytesOf, async (some) => {
    const found = await read(some.filter((one): one is Size => bytesOf.has(one)));
    const byKey = new Map([...found, ...rest].map((item) => [keyOf(item), item]));
    return some.flatMap((one) => byKey.get(keyOf(one)) ?? []);
  });
}

/** The built-in items of a page that begins with `own` items of the account. */
export async function builtInOfPage<Item>(
  builtIn: readonly Item[],
  own: number,
  { limit, offset }: { limit: number; offset: number },
  countOwn: () => Promise<number>,
): Promise<Item[]> {
  if (own === limit || builtIn.length === 0) return [];
  // A page with some of the account's own is the last such page; on one without, a count tells how many were skipped.
  const skipped = own === 0 && offset > 0 ? Math.max(0, offset - (await countOwn())) : 0;
  return builtIn.slice(skipped, skipped + limit - own);
}

/** Splits ids into consecutive pieces within the limits. An item beyond the limit is a piece by itself. */
export function splitByBytes<Id>(
  ids: readonly Id[],
  bytesOf: ReadonlyMap<Id, number>,
  piece: { maxIds: number; maxBytes: number },
): Id[][] {
  const pieces: Id[][] = [];
  let last: Id[] = [];
  let lastBytes = 0;
  for (const id of ids) {
    const bytes = bytesOf.get(id) ?? 0;
    if (last.length === 0 || last.length === piece.maxIds || lastBytes + bytes > piece.maxBytes) {
      last = [];
      lastBytes = 0;
      pieces.push(last);
    }
    last.push(id);
    lastBytes += bytes;
  }
  return pieces;
}

/** The size of a page, unless it is too large. A page of a single item may have any size, or paging would stop there. */
export function refuseLargePage(
  sizes: readonly { bytes: number }[],
  what: string,
  wayOut = `Ask for fewer ${what} with limit.`,
): number {
  const total = sumOf(sizes.map(({ bytes }) => bytes));
  if (sizes.length <= 1 || total <= maxPageBytes) return total;
  throw new ServiceError(
    "page_too_large",
    `The ${sizes.length} ${what} of this page have ${inMegabytes(total)} MB of text; the limit is ${inMegabytes(maxPageBytes)} MB. ${wayOut}`,
  );
}

function sumOf(bytes: readonly number[]): number {
  return bytes.reduce((sum, one) => sum + one, 0);
}

/** The bytes of a row in these columns, as `bytes`. */
export function bytesIn(columns: readonly string[]) {
  const sizes = columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`);
  return sql<number>`${sql.join(sizes, sql` + `)}`.as("bytes");
}
