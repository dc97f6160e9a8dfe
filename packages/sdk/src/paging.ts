/** Reads the first page of a list, or the one that `after` leads to. */
type ReadPage<Item> = (query: { after?: string }) => Promise<{ data: Item[]; next: string | null }>;

/** Reads every item of a list, or the first `atMost`, following `next` from page to page. */
export async function listAllPages<Item>(
  readPage: ReadPage<Item>,
  atMost = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const all: Item[] = [];
  let query: { after?: string } = {};
  for (;;) {
    const { data, next } = await readPage(query);
    all.push(...data);
    if (all.length >= atMost) return all.slice(0, atMost);
    // An older server returns everything at once, without `next`.
    if (typeof next !== "string") return all;
    query = { after: next };
  }
}

/** Yields every item of a list. A page is requested once the previous one has been read. */
export async function* iterateAllPages<Item>(
  readPage: ReadPage<Item>,
): AsyncGenerator<Item, void, undefined> {
  let query: { after?: string } = {};
  for (;;) {
    const { data, next } = await readPage(query);
    yield* data;
    if (typeof next !== "string") return;
    query = { after: next };
  }
}

const pageSize = 1_000;

/** Reads every item of a list that is paged by offset. An item that a new one pushes to the next page is returned only once. */
export async function readAllOffsets<Item extends { id: string }>(
  readPage: (query: { limit: number; offset: number }) => Promise<Item[]>,
): Promise<Item[]> {
  const all = new Map<string, Item>();
  for (let offset = 0; ; offset += pageSize) {
    const page = await readPage({ limit: pageSize, offset });
    for (const item of page) all.set(item.id, item);
    if (page.length < pageSize) return [...all.values()];
  }
}
