import { type Presage, PresageError } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { comparableRunsQuery } from "./compared-runs.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const freshMs = 60_000;

/** Whether a result's `evaluation_run_id` can be a run of Presage: it may also be any other text. */
export function mayBeRun(id: string): boolean {
  return uuid.test(id);
}

/** The name of a run; null if there is none of this id. */
export function runNameQuery(presage: Presage, id: string) {
  return queryOptions({
    queryKey: ["runs", "name", id],
    async queryFn({ signal }): Promise<string | null> {
      try {
        return (await presage.runs.get(id, { signal })).name;
      } catch (error) {
        if (error instanceof PresageError && error.category === "not_found") return null;
        throw error;
      }
    },
    enabled: mayBeRun(id),
    staleTime: freshMs,
  });
}

/** The names of all runs by their ids. */
export function runNamesQuery(presage: Presage) {
  return {
    ...comparableRunsQuery(presage),
    select: (runs: { id: string; name: string }[]) => new Map(runs.map(({ id, name }) => [id, name])),
  };
}
