interface Asked {
  error: unknown;
  isError: boolean;
  refetch(): unknown;
}

/** Why the first of several queries failed, and a way to ask again for all that did; undefined if none did. */
export function findQueryError(queries: readonly Asked[]): { error: unknown; retry(): void } | undefined {
  const failed = queries.filter(({ isError }) => isError);
  const [first] = failed;
  return (
    first && {
      error: first.error,
      retry() {
        for (const query of failed) void query.refetch();
      },
    }
  );
}
