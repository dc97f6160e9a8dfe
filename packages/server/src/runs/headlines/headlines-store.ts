import type { HeadlineFigures, ReportEvaluator, RunPrevious, RunReport } from "@presage/contract";
import { type SqlBool, sql } from "kysely";
import { databaseNow } from "../../platform/storage/clock.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Run } from "../run.ts";
import { parseRun, runColumns, selectFinished } from "../runs-store.ts";

type TokensOfModel = Pick<
  NonNullable<RunReport["cost"]>["models"][number],
  "model" | "prompt_tokens" | "cached_tokens" | "completion_tokens"
>;

/** How a run did by an evaluator, compared in pairs with a baseline's run. */
export type BaselineOutcome = ReportEvaluator &
  Pick<RunPrevious["evaluators"][number], "outcome"> & { run_id: string };

/** The figures kept of an ended run, so that lists do not read its verdicts. Prices and goals are not included: they may change. */
export interface StoredHeadline {
  /** The version of the formulas, as in reports. */
  statistics: 2;
  evaluators: readonly (ReportEvaluator & HeadlineFigures)[];
  /** The number of predictions that were requested. */
  asked: number;
  tokens: readonly TokensOfModel[];
  previous: RunPrevious | null;
  /** Absent in headlines from before it was kept. */
  against?: readonly BaselineOutcome[];
}

export type HeadedRun = Run & { headline: StoredHeadline | null };

/** Parses the JSON of a run's headline. */
export function withHeadline<One extends Run>(run: One & { headline: string | null }) {
  const { headline } = run;
  return { ...run, headline: headline === null ? null : (JSON.parse(headline) as StoredHeadline) };
}

/** The headline of a run that was read without it. */
export async function selectHeadline(reader: Database, runId: string): Promise<StoredHeadline | null> {
  const row = await reader.selectFrom("runs").select("headline").where("id", "=", runId).executeTakeFirst();
  return row?.headline ? (JSON.parse(row.headline) as StoredHeadline) : null;
}

/** The newest ended run over a dataset that has no headline yet and for which no process still stores predictions in progress. */
export async function selectRunWithoutHeadline(
  database: Database,
  except: ReadonlySet<string>,
): Promise<Run | undefined> {
  const row = await database
    .selectFrom("runs")
    .select(runColumns)
    // Written as in the index.
    .where(sql<SqlBool>`headline is null and dataset_id is not null`)
    .where("status", "in", ["finished", "cancelled", "failed"])
    .where((of) => of.or([of("lease_id", "is", null), of("lease_until", "<", databaseNow(database))]))
    .$if(except.size > 0, (query) => query.where("id", "not in", [...except]))
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && parseRun(row);
}

/** Stores a run's headline, unless the run was resumed or given more evaluators meanwhile. */
export async function keepHeadline(
  database: Database,
  { id, status, evaluators }: Run,
  headline: StoredHeadline,
) {
  await database
    .updateTable("runs")
    .set({ headline: JSON.stringify(headline) })
    .where("id", "=", id)
    .where("status", "=", status)
    .where("evaluators", "=", JSON.stringify(evaluators))
    .execute();
}

const runsAtOnce = 100;

/** The latest 100 finished runs of a dataset from before a run, newest first. */
export async function selectFinishedBefore(
  reader: Database,
  { account_id: accountId, dataset, created_at: createdAt }: Run,
): Promise<Run[]> {
  if (dataset === undefined) return [];
  const rows = await selectFinished(reader, accountId)
    .select(runColumns)
    .where("dataset_id", "=", dataset.datasetId)
    .where("created_at", "<", createdAt)
    .limit(runsAtOnce)
    .execute();
  return rows.map(parseRun);
}

const newestRuns = 500;

/** An account's finished baselines for these revisions of datasets, with their headlines. */
export async function selectHeadedBaselines(
  reader: Database,
  accountId: string,
  { datasetIds, revisionIds }: { datasetIds: readonly string[]; revisionIds: readonly number[] },
): Promise<HeadedRun[]> {
  if (revisionIds.length === 0) return [];
  const rows = await selectFinished(reader, accountId)
    .select([...runColumns, "headline"])
    .where("target_kind", "=", "baseline")
    .where("dataset_id", "in", datasetIds)
    .where("revision_id", "in", revisionIds)
    .where("headline", "is not", null)
    .limit(newestRuns)
    .execute();
  return rows.map((row) => withHeadline({ ...parseRun(row), headline: row.headline }));
}

const mostRivals = 20;

/** The newest finished runs that predicted a baseline's revision, with their headlines. */
export async function selectRivals(
  reader: Database,
  baseline: Run,
): Promise<(Run & { headline: StoredHeadline })[]> {
  if (baseline.dataset === undefined) return [];
  const rows = await selectFinished(reader, baseline.account_id)
    .select([...runColumns, "headline"])
    .where("dataset_id", "=", baseline.dataset.datasetId)
    .where("revision_id", "=", baseline.dataset.revisionId)
    .where("target_kind", "!=", "baseline")
    .where("headline", "is not", null)
    .limit(mostRivals)
    .$narrowType<{ headline: string }>()
    .execute();
  return rows.map((row) => ({ ...parseRun(row), headline: JSON.parse(row.headline) as StoredHeadline }));
}

/** An account's newest finished runs over datasets, with their headlines. */
export async function selectHeadedRuns(reader: Database, accountId: string): Promise<HeadedRun[]> {
  const rows = await selectFinished(reader, accountId)
    .select([...runColumns, "headline"])
    .where("dataset_id", "is not", null)
    .where("headline", "is not", null)
    .limit(newestRuns)
    .execute();
  return rows.map((row) => withHeadline({ ...parseRun(row), headline: row.headline }));
}
