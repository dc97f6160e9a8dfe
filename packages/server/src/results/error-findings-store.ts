import type { RecentErrorFindingsResponse } from "@presage/contract";
import { type Micros, microsPerDay } from "../platform/storage/columns.ts";
import { insertRows } from "../platform/storage/rows.ts";
import type {
  ErrorFindingCountsTable,
  EvaluationPayloadsTable,
  EvaluationResultsTable,
} from "../platform/storage/schema/results.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";
import { inParts } from "../platform/words.ts";
import type { EvaluatedModel } from "./result.ts";

/** Namespace of path ids; any fixed UUID would do. */
const pathNamespace = "b3d1c7a0-64ab-4d0e-8a53-0f6f4f0c9d27";
/** Counts the evaluations themselves: the path of a leaf has at least one name. */
const noPath = "[]";

/** The fields that only the family `error-taxonomy` returns in addition to its verdict. */
interface ErrorsFound {
  error_taxonomy_revision_id: string;
  categories: readonly { path: string[]; reason?: string }[];
}

/** A result and the JSON that is stored alongside its verdict. */
interface ResultWithInfo {
  row: Pick<EvaluationResultsTable, "account_id" | "created_at" | "evaluator_family" | "status">;
  texts: Pick<EvaluationPayloadsTable, "additional_info">;
}

/** What results add to the counts of errors: nothing, unless their family finds errors of a taxonomy. */
export function countErrorFindings(results: readonly ResultWithInfo[]): ErrorFindingCountsTable[] {
  const counts = new Map<string, ErrorFindingCountsTable>();
  for (const { row, texts } of results) {
    if (row.evaluator_family !== "error-taxonomy" || row.status !== "success") continue;
    const { extra: found } = JSON.parse(texts.additional_info ?? "{}") as { extra?: Partial<ErrorsFound> };
    if (found?.error_taxonomy_revision_id === undefined) continue;
    const cell = {
      account_id: row.account_id,
      revision_id: found.error_taxonomy_revision_id,
      day: Math.floor(row.created_at / microsPerDay),
    };
    for (const path of pathsOf(found)) {
      const key = JSON.stringify([cell, path]);
      const count = counts.get(key) ?? {
        ...cell,
        path_id: Bun.randomUUIDv5(path, pathNamespace),
        path,
        count: 0,
      };
      count.count += 1;
      counts.set(key, count);
    }
  }
  return [...counts.values()];
}

/** What the counts of errors lose and gain when results are counted differently than before. */
export function recountErrorFindings(from: readonly ResultWithInfo[], to: readonly ResultWithInfo[]) {
  const lost = countErrorFindings(from).map((cell) => ({ ...cell, count: -cell.count }));
  return [...lost, ...countErrorFindings(to)];
}

/** A tree may have two leaves with the same path, which count as one kind of error. */
function pathsOf({ categories = [] }: Partial<ErrorsFound>): Set<string> {
  return new Set([noPath, ...categories.map(({ path }) => JSON.stringify(path))]);
}

const addToCounts =
  "on conflict (account_id, revision_id, day, path_id) do update set count = count + excluded.count";

export async function addErrorFindings(transaction: Database, counts: readonly ErrorFindingCountsTable[]) {
  if (isPostgres(transaction)) await insertRows(transaction, "error_finding_count_deltas", counts);
  else await insertRows(transaction, "error_finding_counts", counts, addToCounts);
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
) {
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

const idsAtOnce = 1_000;

/** The errors that a judge found, without the texts that it judged. */
export interface JudgedResult {
  id: number;
  createdAt: Micros;
  /** The model that wrote the output, or the world that answered without a model. */
  model: string | null;
  /** The rule that wrote the output, if the run is one of a baseline. */
  baseline: RecentErrorFindingsResponse["models"][number]["baseline"];
  /** The run's id as the result has it. */
  runId: string | null;
  /** The run's name, if the account has the run. */
  runName: string | null;
  revisionId: string | undefined;
  found: { path: string[]; reason: string | null }[];
}

/** Results of the family `error-taxonomy`, newest first. */
export async function selectJudgedResults(reader: Database, ids: readonly number[]): Promise<JudgedResult[]> {
  const select = (some: readonly number[]) =>
    reader
      .selectFrom("evaluation_results as result")
      .innerJoin("evaluation_payloads as payload", "payload.result_id", "result.id")
      .leftJoin("runs as run", (join) =>
        join.onRef("run.id", "=", "result.run_id").onRef("run.account_id", "=", "result.account_id"),
      )
      .select(["result.id", "result.created_at", "payload.additional_info", "payload.evaluated_model"])
      .select(["result.run_id", "run.name as run_name", "run.target_kind", "run.target"])
      .where("result.id", "in", some)
      .execute();
  const rows: Awaited<ReturnType<typeof select>> = [];
  for (const some of inParts(ids, idsAtOnce)) rows.push(...(await select(some)));
  return rows
    .sort((a, b) => b.id - a.id)
    .map(({ id, created_at, additional_info, evaluated_model, run_id, run_name, ...run }) => {
      const { extra } = JSON.parse(additional_info ?? "{}") as { extra?: Partial<ErrorsFound> };
      const model = JSON.parse(evaluated_model ?? "null") as EvaluatedModel | null;
      const target = JSON.parse(run.target ?? "{}") as { kind?: string; name?: string; revision?: number };
      const world = target.kind === "world" ? `${target.name}@${target.revision}` : null;
      return {
        id,
        createdAt: created_at,
        model: model?.name ?? model?.selectedModel ?? model?.id ?? world,
        baseline: run.target_kind === "baseline" ? (target.kind as JudgedResult["baseline"]) : null,
        runId: run_id,
        runName: run_name,
        revisionId: extra?.error_taxonomy_revision_id,
        found: (extra?.categories ?? []).map(({ path, reason = null }) => ({ path, reason })),
      };
    });
}
