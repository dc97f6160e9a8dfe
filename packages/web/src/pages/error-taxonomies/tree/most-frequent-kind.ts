import type { RecentErrorFindingsResponse } from "@presage/sdk";
import { pathKey } from "./walk-nodes.ts";

/** The key of the path of the kind that was found most often; undefined if none was found. */
export function mostFrequentKind(found: RecentErrorFindingsResponse | undefined): string | undefined {
  const counts = new Map<string, number>();
  for (const { findings } of found?.models ?? []) {
    for (const { path, count } of findings)
      counts.set(pathKey(path), (counts.get(pathKey(path)) ?? 0) + count);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}
