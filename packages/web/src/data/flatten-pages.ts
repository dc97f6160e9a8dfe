/** The items of all loaded pages: `select` of an infinite query. Being one function, it runs only when the pages change. */
export function flattenPages<Item>({ pages }: { pages: readonly { data: readonly Item[] }[] }): Item[] {
  return pages.flatMap(({ data }) => data);
}
