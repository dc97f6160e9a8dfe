import { findRevision } from "../evaluators/taxonomies/taxonomies.ts";
import type { Micros } from "../platform/storage/micros.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { EvaluationServices } from "./evaluation-services.ts";
import { type JudgedResult, selectJudgedResults } from "./judged-results-store.ts";
import { selectResultIds } from "./search/search-store.ts";

/** No index has what a result found, so the newest ones are read, without their texts. */
const maxConsidered = 2_000;
const maxExamples = 3;
const maxRuns = 50;

interface Finding {
  path: string[];
  count: number;
}

/** What the newest evaluations against a revision found. */
export interface RecentFindings {
  /** Verdicts of error taxonomies that were looked at. */
  considered: number;
  /** How many of them are of the revision. */
  evaluated: number;
  models: { model: string | undefined; evaluated: number; findings: Finding[] }[];
  /** Those with the newest results first. */
  runs: { runId: string | undefined; name: string | undefined; evaluated: number; findings: Finding[] }[];
  examples: { path: string[]; results: ErrorExample[] }[];
}

interface ErrorExample {
  id: number;
  createdAt: Micros;
  model: string | undefined;
  reason: string | undefined;
}

export async function findRecentFindings(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  revisionId: string,
): Promise<RecentFindings> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  await findRevision(reader, accountId, revisionId);
  const ids = await selectResultIds(reader, {
    accountId,
    filter: { status: "success", evaluatorFamily: "error-taxonomy" },
    page: { order: "newest-first", limit: maxConsidered },
  });
  const judged = (await selectJudgedResults(reader, ids)).filter(
    (result) => result.revisionId === revisionId,
  );
  const models = Map.groupBy(judged, ({ model }) => model);
  const runs = Map.groupBy(judged, ({ runId }) => runId);
  return {
    considered: ids.length,
    evaluated: judged.length,
    models: [...models]
      .map(([model, results]) => ({ model, evaluated: results.length, findings: countFindings(results) }))
      .sort((a, b) => b.evaluated - a.evaluated || (String(a.model) < String(b.model) ? -1 : 1)),
    runs: [...runs].slice(0, maxRuns).map(([runId, results]) => ({
      runId,
      name: results[0]?.runName,
      evaluated: results.length,
      findings: countFindings(results),
    })),
    examples: findExamples(judged),
  };
}

function countFindings(results: readonly JudgedResult[]): Finding[] {
  const counts = new Map<string, number>();
  for (const { found } of results) {
    // A tree may have two leaves of one path, which count as one kind of error.
    for (const key of new Set(found.map(({ path }) => JSON.stringify(path)))) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return [...counts]
    .sort(([keyA, a], [keyB, b]) => b - a || (keyA < keyB ? -1 : 1))
    .map(([key, count]) => ({ path: JSON.parse(key) as string[], count }));
}

function findExamples(newestFirst: readonly JudgedResult[]): RecentFindings["examples"] {
  const examples = new Map<string, ErrorExample[]>();
  for (const { id, createdAt, model, found } of newestFirst) {
    for (const [key, reason] of new Map(found.map(({ path, reason }) => [JSON.stringify(path), reason]))) {
      const results = examples.get(key) ?? [];
      if (results.length < maxExamples) examples.set(key, [...results, { id, createdAt, model, reason }]);
    }
  }
  return [...examples].map(([key, results]) => ({ path: JSON.parse(key) as string[], results }));
}
