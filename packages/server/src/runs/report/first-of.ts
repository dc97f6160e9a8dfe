import { setImmediate as nextTurn } from "node:timers/promises";

/** Some milliseconds of the main thread. */
const sliceItems = 5_000;

/** Items a slice at a time. Other work has its turn after each. */
export async function* inSlices<Item>(items: Iterable<Item>): AsyncGenerator<Item[], void> {
  let slice: Item[] = [];
  for (const item of items) {
    slice.push(item);
    if (slice.length < sliceItems) continue;
    yield slice;
    slice = [];
    await nextTurn();
  }
  yield slice;
}

/** The first items in an order. There may be a million, and sorting them all at once would block everybody for seconds. */
export async function firstOf<Item>(
  items: Iterable<Item>,
  most: number,
  compare: (a: Item, b: Item) => number,
): Promise<Item[]> {
  let first: Item[] = [];
  for await (const slice of inSlices(items)) first = first.concat(slice).sort(compare).slice(0, most);
  return first;
}
