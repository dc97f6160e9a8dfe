import type { Presage } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";

const freshForMs = 60_000;

/** All runs that can be compared, newest first. */
export function comparableRunsQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["runs", "all"],
    queryFn: ({ signal }) => presage.runs.list({}, { signal }),
  });
}

/** The names of all datasets by their ids. */
export function datasetNamesQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["datasets", "names"],
    queryFn: async ({ signal }) =>
      new Map((await presage.datasets.list({ signal })).map(({ id, name }) => [id, name])),
  });
}

/** What one of the compared runs says for itself. */
export function comparedReportQuery(presage: Presage, runId: string) {
  return queryOptions({
    queryKey: ["runs", "one", runId, "report"],
    queryFn: ({ signal }) => presage.runs.report(runId, { signal }),
    staleTime: freshForMs,
  });
}
