import { microsPerDay } from "../platform/storage/micros.ts";
import type { ErrorFindingCountsTable } from "../platform/storage/schema/evaluation-rollup.ts";
import type { StoredResult } from "./evaluation-record.ts";

/** Namespace of path ids; any fixed UUID would do. */
const pathNamespace = "b3d1c7a0-64ab-4d0e-8a53-0f6f4f0c9d27";
/** Counts the evaluations themselves: the path of a leaf has at least one name. */
const noPath = "[]";

/** What only the family `error-taxonomy` returns beside its verdict. */
interface ErrorsFound {
  error_taxonomy_revision_id: string;
  categories: readonly { path: string[] }[];
}

/** What results add to the counts of errors: nothing, unless their family finds errors of a taxonomy. */
export function countErrorFindings(
  results: readonly Pick<StoredResult, "accountId" | "createdAt" | "evaluatorFamily" | "outcome">[],
): ErrorFindingCountsTable[] {
  const counts = new Map<string, ErrorFindingCountsTable>();
  for (const { accountId, createdAt, evaluatorFamily, outcome } of results) {
    if (evaluatorFamily !== "error-taxonomy" || outcome.status !== "success") continue;
    const found = outcome.extra as Partial<ErrorsFound> | undefined;
    if (found?.error_taxonomy_revision_id === undefined) continue;
    const cell = {
      account_id: accountId,
      revision_id: found.error_taxonomy_revision_id,
      day: Math.floor(createdAt / microsPerDay),
    };
    for (const path of pathsOf(found)) {
      const key = JSON.stringify([cell, path]);
      const count = counts.get(key) ?? { ...cell, ...named(path), count: 0 };
      count.count += 1;
      counts.set(key, count);
    }
  }
  return [...counts.values()];
}

/** A tree may have two leaves of one path, which count as one kind of error. */
function pathsOf({ categories = [] }: Partial<ErrorsFound>): Set<string> {
  return new Set([noPath, ...categories.map(({ path }) => JSON.stringify(path))]);
}

function named(path: string): Pick<ErrorFindingCountsTable, "path_id" | "path"> {
  return { path_id: Bun.randomUUIDv5(path, pathNamespace), path };
}
