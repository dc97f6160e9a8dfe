import { setImmediate as nextTurn } from "node:timers/promises";
import type { PositionRange } from "./outcomes-store.ts";

/** Rows of one statement. They are parsed on the main thread, so they must be few. */
const rowsAtOnce = 5_000;

/** Reads what there is of the samples up to the last one, a range at a time, and lets others take a turn after each. */
export async function* readInRanges<Row>(
  last: number,
  rowsOfSample: number,
  read: (range: PositionRange) => Promise<Row[]>,
): AsyncGenerator<Row[], void> {
  const samples = Math.ceil(rowsAtOnce / rowsOfSample);
  for (let after = 0; after < last; after += samples) {
    yield await read({ after, upTo: Math.min(last, after + samples) });
    // A database in memory reads without waiting.
    await nextTurn();
  }
}
