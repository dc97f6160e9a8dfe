/** Reads every item of a list, or the first `atMost`, following `next` from page to page. */
export async function listAllPages<Page extends { next: string | null }, Item>(
  readPage: (query: { after?: string }) => Promise<Page>,
  itemsOf: (page: Page) => Item[],
  atMost = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const all: Item[] = [];
  let query: { after?: string } = {};
  for (;;) {
    const page = await readPage(query);
    all.push(...itemsOf(page));
    if (all.length >= atMost) return all.slice(0, atMost);
    // An older server returns everything at once, without `next`.
    if (typeof page.next !== "string") return all;
    query = { after: page.next };
  }
}
