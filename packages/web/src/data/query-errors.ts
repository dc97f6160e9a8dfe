import { PresageError } from "@presage/sdk";

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

/** Whether the resource in the URL does not exist, or its id is malformed. */
export function isNotFound(error: unknown): boolean {
  return error instanceof PresageError && (error.category === "not_found" || error.category === "invalid");
}
