/** The page that a query with `limit` and `offset`, both checked by its schema, asks for. */
export function readPage(
  { limit, offset }: { limit?: string | undefined; offset?: string | undefined },
  defaultLimit: number,
): { limit: number; offset: number } {
  return { limit: Number(limit ?? defaultLimit), offset: Number(offset ?? 0) };
}
