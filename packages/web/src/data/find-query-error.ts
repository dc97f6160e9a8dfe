interface QueryState {
  error: unknown;
  isError: boolean;
  refetch(): unknown;
}

/** The error of the first failed query, and a retry of all failed ones; undefined if none failed. */
export function findQueryError(
  queries: readonly QueryState[],
): { error: unknown; retry(): void } | undefined {
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
