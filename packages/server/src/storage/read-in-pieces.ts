import { ServiceError } from "../errors.ts";

/** What is read at once. While it crosses threads and is written anew, a text takes several times its memory. */
const piece = { maxIds: 100, maxBytes: 1_000_000 };
const maxBytesOfPage = 64_000_000;

/** Items that are read a piece at a time, when they are asked for. */
export interface Pieces<Item> {
  /** How many pieces there are. */
  count: number;
  /** About how many bytes the largest of them has. */
  maxBytes: number;
  /** Reads them in their order. */
  read(): AsyncGenerator<Item[], void>;
}

/** Items by their ids, in the same order, in pieces of about a megabyte. What is larger is a piece of its own. */
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

/** Neighbours together, as many as one piece takes of them. What is larger than a piece is one of its own. */
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

/** One item alone is answered whatever its size, or nobody could go on from it. */
export function refuseLargePage(bytes: readonly number[], what: string, wayOut: string): void {
  const all = sumOf(bytes);
  if (bytes.length <= 1 || all <= maxBytesOfPage) return;
  throw new ServiceError(
    "body_too_large",
    `The ${bytes.length} ${what} of this page have ${inMegabytes(all)} MB of texts, and a page may have ${inMegabytes(maxBytesOfPage)} MB. ${wayOut}`,
  );
}

function sumOf(bytes: readonly number[]): number {
  return bytes.reduce((sum, one) => sum + one, 0);
}

function inMegabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}
