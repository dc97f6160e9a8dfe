import {
  ErrorTaxonomyFindingsQuery,
  ErrorTaxonomyFindingsResponse,
  ErrorTaxonomyRevisionPath,
  RecentErrorFindingsResponse,
  readInstant,
} from "@presage/contract";
import { getRevision } from "../evaluators/taxonomies/taxonomies.ts";
import { revisionNotFound } from "../evaluators/taxonomies/taxonomies-route.ts";
import { response } from "../http/describe.ts";
import { toIsoDay } from "../http/response.ts";
import { reply, route } from "../http/route.ts";
import { microsPerDay, toIsoInstant } from "../platform/storage/columns.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import {
  type Days,
  type JudgedResult,
  selectErrorFindings,
  selectJudgedResults,
} from "./error-findings-store.ts";
import examples from "./examples.json" with { type: "json" };
import { selectResultIds } from "./search/search-store.ts";

const path = "/v1/error-taxonomy-revision/:revision_id";

const countFindings = route("GET", `${path}/findings`, {
  needs: "read",
  id: "listErrorTaxonomyFindings",
  summary: "Count the errors that evaluations found",
  description:
    "Counts how many evaluations used the revision, and how often they found each of its errors, by whole UTC days. Corrections do not change these counts.",
  params: ErrorTaxonomyRevisionPath,
  query: ErrorTaxonomyFindingsQuery,
  allowsUnknown: true,
  responses: {
    "200": response("The errors that the account's evaluations found", ErrorTaxonomyFindingsResponse, {
      evaluated: 120,
      findings: [{ path: ["doors", "opened by itself"], count: 7, last_found_on: "2026-11-22" }],
    }),
    ...revisionNotFound,
  },
  async handle(services: { store: Store }, { requester, params, query: { since, until } }) {
    const days = {
      fromDay: since === undefined ? undefined : Math.floor(readInstant(since) / microsPerDay),
      untilDay: until === undefined ? undefined : Math.ceil(readInstant(until) / microsPerDay),
    };
    return reply(200, await findErrorFindings(services, requester, params.revision_id.toLowerCase(), days));
  },
});

const recentFindings = route("GET", `${path}/recent-findings`, {
  needs: "read",
  id: "listRecentErrorFindings",
  summary: "Show what the newest evaluations found",
  description:
    "Shows the errors that the revision found among the account's newest 2,000 verdicts of error taxonomies, by model and by run, with examples of each error.",
  params: ErrorTaxonomyRevisionPath,
  responses: {
    "200": response(
      "The errors that the newest evaluations found",
      RecentErrorFindingsResponse,
      examples.errorFindings,
    ),
    ...revisionNotFound,
  },
  async handle(services: { store: Store }, { requester, params }) {
    return reply(200, await findRecentFindings(services, requester, params.revision_id.toLowerCase()));
  },
});

export const errorFindingRoutes = [countFindings, recentFindings];

/** The errors that an account's evaluations against a revision of a taxonomy found, the most frequent first. */
async function findErrorFindings(
  { store }: { store: Store },
  requester: Requester,
  revisionId: string,
  days: Days,
): Promise<ErrorTaxonomyFindingsResponse> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  await getRevision(reader, accountId, revisionId);
  const rows = await selectErrorFindings(reader, accountId, revisionId, days);
  const all = rows.map(({ path, count, last_day }) => ({
    // Written as a list of texts.
    path: JSON.parse(path) as string[],
    count,
    last_found_on: toIsoDay(last_day),
  }));
  const findings = all
    .filter(({ path }) => path.length > 0)
    .sort((a, b) => b.count - a.count || (a.path.join("\0") < b.path.join("\0") ? -1 : 1));
  return { evaluated: all.find(({ path }) => path.length === 0)?.count ?? 0, findings };
}

type Writer = Pick<JudgedResult, "model" | "baseline">;

/** No index covers what a result found, so the newest results are read, without their texts. */
const maxConsidered = 2_000;
const maxExamples = 3;
const maxRuns = 50;

/** The errors that the newest evaluations against a revision found: by model, and by run, those with the newest results first. */
async function findRecentFindings(
  { store }: { store: Store },
  requester: Requester,
  revisionId: string,
): Promise<RecentErrorFindingsResponse> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  await getRevision(reader, accountId, revisionId);
  const ids = await selectResultIds(reader, {
    accountId,
    filter: { status: "success", evaluatorFamily: "error-taxonomy" },
    page: { order: "newest-first", limit: maxConsidered },
  });
  const judged = (await selectJudgedResults(reader, ids)).filter(
    (result) => result.revisionId === revisionId,
  );
  // Among equal counts, results without a named model sort as "undefined".
  const nameOf = ({ model, baseline }: Writer) => baseline ?? model ?? "undefined";
  const isBaseline = ({ baseline }: Writer) => Number(baseline !== null);
  const writers = Map.groupBy(judged, ({ model, baseline }) => JSON.stringify({ model, baseline }));
  const runs = Map.groupBy(judged, ({ runId }) => runId);
  return {
    considered: ids.length,
    evaluated: judged.length,
    models: [...writers]
      .map(([writer, results]) => ({
        ...(JSON.parse(writer) as Writer),
        evaluated: results.length,
        findings: countErrors(results),
      }))
      .sort(
        (a, b) =>
          isBaseline(a) - isBaseline(b) || b.evaluated - a.evaluated || (nameOf(a) < nameOf(b) ? -1 : 1),
      ),
    runs: [...runs].slice(0, maxRuns).map(([runId, results]) => ({
      evaluation_run_id: runId,
      name: results[0]?.runName ?? null,
      evaluated: results.length,
      findings: countErrors(results),
    })),
    examples: findExamples(judged),
  };
}

function countErrors(
  results: readonly JudgedResult[],
): RecentErrorFindingsResponse["models"][number]["findings"] {
  const counts = new Map<string, number>();
  for (const { found } of results) {
    // A tree may have two leaves with the same path, which count as one kind of error.
    for (const key of new Set(found.map(({ path }) => JSON.stringify(path)))) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return [...counts]
    .sort(([keyA, a], [keyB, b]) => b - a || (keyA < keyB ? -1 : 1))
    .map(([key, count]) => ({ path: JSON.parse(key) as string[], count }));
}

function findExamples(newestFirst: readonly JudgedResult[]): RecentErrorFindingsResponse["examples"] {
  const examples = new Map<string, RecentErrorFindingsResponse["examples"][number]["results"]>();
  for (const { id, createdAt, model, baseline, found } of newestFirst) {
    for (const [key, reason] of new Map(found.map(({ path, reason }) => [JSON.stringify(path), reason]))) {
      const results = examples.get(key) ?? [];
      const example = { id: String(id), created_at: toIsoInstant(createdAt), model, baseline, reason };
      if (results.length < maxExamples) examples.set(key, [...results, example]);
    }
  }
  return [...examples].map(([key, results]) => ({ path: JSON.parse(key) as string[], results }));
}
