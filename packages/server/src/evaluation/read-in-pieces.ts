import { ServiceError } from "../errors.ts";
import { splitByBytes } from "./results/split-by-bytes.ts";

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
