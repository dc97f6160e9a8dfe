import { PresageError } from "@presage/sdk";

/** Reads a paged list completely. If a page is too large for one response, requests smaller pages. */
export async function listAll<Item>(
  pageSize: number,
  readPage: (page: { limit: number; offset: number }) => Promise<Item[]>,
): Promise<Item[]> {
  const all: Item[] = [];
  let limit = pageSize;
  while (true) {
    let page: Item[];
    try {
      page = await readPage({ limit, offset: all.length });
    } catch (error) {
      if (limit === 1 || !(error instanceof PresageError) || error.category !== "too_large") throw error;
      limit = Math.ceil(limit / 2);
      continue;
    }
    all.push(...page);
    if (page.length < limit) return all;
  }
}
