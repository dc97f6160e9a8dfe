/** Every item of a list that comes in pages. */
export async function listAll<Item>(
  pageSize: number,
  readPage: (page: { limit: number; offset: number }) => Promise<Item[]>,
): Promise<Item[]> {
  const all: Item[] = [];
  while (true) {
    const page = await readPage({ limit: pageSize, offset: all.length });
    all.push(...page);
    if (page.length < pageSize) return all;
  }
}
