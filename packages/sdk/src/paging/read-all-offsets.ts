const pageSize = 1_000;

/** Reads every item of a list that is paged by offset. */
export async function readAllOffsets<Item>(
  readPage: (query: { limit: number; offset: number }) => Promise<Item[]>,
): Promise<Item[]> {
  const all: Item[] = [];
  for (;;) {
    const page = await readPage({ limit: pageSize, offset: all.length });
    all.push(...page);
    if (page.length < pageSize) return all;
  }
}
