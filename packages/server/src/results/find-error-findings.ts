import { findRevision } from "../evaluators/taxonomies/taxonomies.ts";
import { type Micros, microsPerDay } from "../platform/storage/micros.ts";
import type { Requester } from "../platform/storage/reader.ts";
import { selectErrorFindings } from "./error-findings-store.ts";
import type { EvaluationServices } from "./evaluation-services.ts";

/** Whole days: the first contains `since`, and the last starts before `until`. */
export interface Period {
  since: Micros | undefined;
  until: Micros | undefined;
}

/** What an account's evaluations against a revision of a taxonomy found. */
export interface ErrorFindings {
  /** Evaluations with a verdict, with or without errors. */
  evaluated: number;
  /** The most frequent first. `lastDay` is in days since 1970-01-01 UTC. */
  findings: { path: string[]; count: number; lastDay: number }[];
}

export async function findErrorFindings(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  revisionId: string,
  { since, until }: Period,
): Promise<ErrorFindings> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  await findRevision(reader, accountId, revisionId);
  const rows = await selectErrorFindings(reader, accountId, revisionId, {
    fromDay: since === undefined ? undefined : Math.floor(since / microsPerDay),
    untilDay: until === undefined ? undefined : Math.ceil(until / microsPerDay),
  });
  const all = rows.map(({ path, count, last_day }) => ({
    // Written as a list of texts.
    path: JSON.parse(path) as string[],
    count,
    lastDay: last_day,
  }));
  const findings = all
    .filter(({ path }) => path.length > 0)
    .sort((a, b) => b.count - a.count || (a.path.join("\0") < b.path.join("\0") ? -1 : 1));
  return { evaluated: all.find(({ path }) => path.length === 0)?.count ?? 0, findings };
}
