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

/** What is kept of a run that has ended, so that no list reads its verdicts. Prices and goals may change: they are not in it. */
export interface StoredHeadline {
  /** The formulas, as in reports. */
  statistics: 2;
  evaluators: readonly (ReportEvaluator & HeadlineFigures)[];
  /** Predictions that were requested. */
  asked: number;
  tokens: readonly TokensOfModel[];
  previous: RunPrevious | null;
}

export type HeadedRun = Run & { headline: StoredHeadline | null };

/** Reads the JSON of its column. */
export function withHeadline<One extends Run>(run: One & { headline: string | null }) {
  const { headline } = run;
  return { ...run, headline: headline === null ? null : (JSON.parse(headline) as StoredHeadline) };
}

/** Of a run that was read without it. */
export async function selectHeadline(reader: Database, runId: string): Promise<StoredHeadline | null> {
  const row = await reader.selectFrom("runs").select("headline").where("id", "=", runId).executeTakeFirst();
  return row?.headline ? (JSON.parse(row.headline) as StoredHeadline) : null;
}

/** The newest run over a dataset that has ended, has no headline yet, and of which no process still stores what was under way. */
export async function selectRunWithoutHeadline(
  database: Database,
  except: ReadonlySet<string>,
): Promise<Run | undefined> {
  const row = await database
    .selectFrom("runs")
    .select(runColumns)
    // As the index has it.
    .where(sql<SqlBool>`headline is null and dataset_id is not null`)
    .where("status", "in", ["finished", "cancelled", "failed"])
    .where((of) => of.or([of("lease_id", "is", null), of("lease_until", "<", databaseNow(database))]))
    .$if(except.size > 0, (query) => query.where("id", "not in", [...except]))
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && parseRun(row);
}

/** Keeps a run's headline, unless it was resumed or given more evaluators since. */
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

/** The latest 100 finished runs of a dataset from before a run, the newest first. */
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

/** An account's finished baselines of these revisions of datasets, with their headlines. */
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
