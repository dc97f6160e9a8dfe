import type { Presage } from "@presage/sdk";
import { comparableRunsQuery } from "./compared-runs.ts";

interface NamedRun {
  id: string;
  name: string;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const freshMs = 60_000;

/** The names of all runs by their ids. */
export function runNamesQuery(presage: Presage) {
  return {
    ...comparableRunsQuery(presage),
    staleTime: freshMs,
    select: (runs: readonly NamedRun[]) => new Map(runs.map(({ id, name }) => [id, name])),
  };
}

/** The name of one of all runs, so that a list of results makes one request however many runs it names; null if there is none of this id. */
export function runNameQuery(presage: Presage, id: string) {
  return {
    ...comparableRunsQuery(presage),
    staleTime: freshMs,
    // A result's `evaluation_run_id` may be any text, which no run has as its id.
    enabled: uuid.test(id),
    select: (runs: readonly NamedRun[]) => runs.find((run) => run.id === id)?.name ?? null,
  };
}
