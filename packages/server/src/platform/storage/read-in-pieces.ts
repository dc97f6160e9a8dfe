import { ServiceError } from "../errors.ts";

/** The limits of one read. While a text crosses threads and is serialised, it takes several times its memory. */
const piece = { maxIds: 100, maxBytes: 1_000_000 };
const maxPageBytes = 64_000_000;

/** Items that are read lazily, a piece at a time. */
export interface Pieces<Item> {
  count: number;
  /** The approximate size of the largest piece. */
  maxBytes: number;
  read(): AsyncGenerator<Item[], void>;
}

/** Items in the order of their ids, in pieces of about a megabyte. A larger item is a piece of its own. */
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

/** Splits ids into consecutive pieces within the limits. An item beyond the limit is a piece of its own. */
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

/** The size of a page, unless it is too large. One of a single item is allowed at any size, or paging would stop at it. */
export function refuseLargePage(bytes: readonly number[], what: string, wayOut: string): number {
  const total = sumOf(bytes);
  if (bytes.length <= 1 || total <= maxPageBytes) return total;
  throw new ServiceError(
    "page_too_large",
    `The ${bytes.length} ${what} of this page have ${inMegabytes(total)} MB of text; the limit is ${inMegabytes(maxPageBytes)} MB. ${wayOut}`,
  );
}

function sumOf(bytes: readonly number[]): number {
  return bytes.reduce((sum, one) => sum + one, 0);
}

function inMegabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}
