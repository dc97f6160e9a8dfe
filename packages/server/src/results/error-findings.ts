import { findRevision } from "../evaluators/taxonomies/taxonomies.ts";
import { type Micros, microsPerDay } from "../platform/storage/columns.ts";
import type { ErrorFindingCountsTable } from "../platform/storage/schema/results.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres, type Requester, type Store } from "../platform/storage/store.ts";
import type { EvaluatedModel, StoredResult } from "./result.ts";
import { selectResultIds } from "./search/search-store.ts";

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

/** Far below the number of parameters that a statement may have. */
const rowsAtOnce = 1_000;

/** Adds to the counts of errors. */
export async function addErrorFindings(
  transaction: Database,
  counts: readonly ErrorFindingCountsTable[],
): Promise<void> {
  for (let at = 0; at < counts.length; at += rowsAtOnce) {
    const some = counts.slice(at, at + rowsAtOnce);
    if (isPostgres(transaction)) {
      await transaction.insertInto("error_finding_count_deltas").values(some).execute();
      continue;
    }
    await transaction
      .insertInto("error_finding_counts")
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(["account_id", "revision_id", "day", "path_id"]).doUpdateSet((row) => ({
          count: row("error_finding_counts.count", "+", row.ref("excluded.count")),
        })),
      )
      .execute();
  }
}

/** Days since 1970-01-01 UTC; `untilDay` is exclusive. */
export interface Days {
  fromDay: number | undefined;
  untilDay: number | undefined;
}

/** How often an account's evaluations against a revision found each path, and the last day on which they did. */
export async function selectErrorFindings(
  reader: Database,
  accountId: string,
  revisionId: string,
  { fromDay, untilDay }: Days,
): Promise<{ path: string; count: number; last_day: number }[]> {
  const countsOf = (table: "error_finding_counts" | "error_finding_count_deltas") => {
    let query = reader
      .selectFrom(table)
      .select(["path", "day", "count"])
      .where("account_id", "=", accountId)
      .where("revision_id", "=", revisionId);
    if (fromDay !== undefined) query = query.where("day", ">=", fromDay);
    if (untilDay !== undefined) query = query.where("day", "<", untilDay);
    return query;
  };
  const byDay = reader
    .selectFrom(
      countsOf("error_finding_counts").unionAll(countsOf("error_finding_count_deltas")).as("counts"),
    )
    .select(["path", "day"])
    .select(({ fn }) => fn.sum<number>("count").as("count"))
    .groupBy(["path", "day"])
    // A result moved to another day leaves a zero in its old one.
    .having(({ fn }) => fn.sum<number>("count"), ">", 0);
  return await reader
    .selectFrom(byDay.as("by_day"))
    .select("path")
    .select(({ fn }) => [fn.sum<number>("count").as("count"), fn.max("day").as("last_day")])
    .groupBy("path")
    .execute();
}

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
  { store }: { store: Store },
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

const idsAtOnce = 1_000;

/** What a judge found, without the texts that it judged. */
export interface JudgedResult {
  id: number;
  createdAt: Micros;
  /** The model that wrote the output. */
  model: string | undefined;
  /** As the result names it. */
  runId: string | undefined;
  /** If that is one of the account's runs. */
  runName: string | undefined;
  revisionId: string | undefined;
  found: { path: string[]; reason: string | undefined }[];
}

/** Results of the family `error-taxonomy`, newest first. */
async function selectJudgedResults(reader: Database, ids: readonly number[]): Promise<JudgedResult[]> {
  const select = (some: readonly number[]) =>
    reader
      .selectFrom("evaluation_results as result")
      .innerJoin("evaluation_payloads as payload", "payload.result_id", "result.id")
      .leftJoin("runs as run", (join) =>
        join.onRef("run.id", "=", "result.run_id").onRef("run.account_id", "=", "result.account_id"),
      )
      .select(["result.id", "result.created_at", "payload.additional_info", "payload.evaluated_model"])
      .select(["result.run_id", "run.name as run_name"])
      .where("result.id", "in", some)
      .execute();
  const rows: Awaited<ReturnType<typeof select>> = [];
  for (let at = 0; at < ids.length; at += idsAtOnce)
    rows.push(...(await select(ids.slice(at, at + idsAtOnce))));
  return rows
    .sort((a, b) => b.id - a.id)
    .map(({ id, created_at, additional_info, evaluated_model, run_id, run_name }) => {
      const { extra } = JSON.parse(additional_info ?? "{}") as { extra?: Partial<Found> };
      const model = JSON.parse(evaluated_model ?? "null") as EvaluatedModel | null;
      return {
        id,
        createdAt: created_at,
        model: model?.name ?? model?.selectedModel ?? model?.id,
        runId: run_id ?? undefined,
        runName: run_name ?? undefined,
        revisionId: extra?.error_taxonomy_revision_id,
        found: (extra?.categories ?? []).map(({ path, reason }) => ({ path, reason })),
      };
    });
}

/** What only the family `error-taxonomy` returns beside its verdict. */
interface Found {
  error_taxonomy_revision_id: string;
  categories: readonly { path: string[]; reason?: string }[];
}

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
  { store }: { store: Store },
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
