import { sql } from "kysely";
import type { RunVerdictsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Run, RunEvaluator } from "./run.ts";
import { parseRun, runColumns } from "./runs-store.ts";

const withoutFailure: RunVerdictsTable["status"][] = ["success", "not_applicable"];

/** Has a run judged by more evaluators. All predictions must be evaluated again, so the counts start over. */
export async function extendEvaluators(
  transaction: Database,
  run: Run,
  evaluators: readonly RunEvaluator[],
): Promise<Run> {
  const failed = await countFailedPredictions(transaction, run);
  return await reopen(transaction, run, { evaluators, evaluated: failed, failed });
}

/**
 * Removes the failed verdicts of some of a run's evaluators, by their places, so that they are missing. In a free-running run the steps
 * that were not reached are removed as well. Returns whether there were any.
 */
export async function forgetFailedVerdicts(
  transaction: Database,
  run: Run,
  places: readonly number[],
): Promise<boolean> {
  if (places.length === 0) return false;
  const { numDeletedRows } = await transaction
    .deleteFrom("run_verdicts")
    .where("run_id", "=", run.id)
    .where("evaluator", "in", places)
    .where("status", "not in", withoutFailure)
    .executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  if (run.mode === "free-running") await deleteNotReached(transaction, run);
  return true;
}

async function deleteNotReached(transaction: Database, { id }: Run): Promise<void> {
  const notReached = transaction
    .selectFrom("predictions")
    .select("id")
    .where("run_id", "=", id)
    .where("error_category", "=", "not_reached");
  await transaction.deleteFrom("prediction_payloads").where("prediction_id", "in", notReached).execute();
  const { numDeletedRows } = await transaction
    .deleteFrom("predictions")
    .where("id", "in", notReached)
    .executeTakeFirst();
  await transaction
    .updateTable("runs")
    .set((of) => ({ unpredicted: of("unpredicted", "-", Number(numDeletedRows)) }))
    .where("id", "=", id)
    .execute();
}

/** Has a run go on with its missing verdicts, and counts those that it has. */
export async function judgeMissing(transaction: Database, run: Run): Promise<Run> {
  const failed = await countFailedPredictions(transaction, run);
  const hasFailed = sql<number>`max(case when status in (${sql.join(withoutFailure)}) then 0 else 1 end)`;
  const complete = transaction
    .selectFrom("run_verdicts")
    .select(hasFailed.as("has_failed"))
    .where("run_id", "=", run.id)
    .groupBy(["position", "repeat"])
    .having((of) => of.fn.countAll(), "=", run.evaluators.length);
  const judged = await transaction
    .selectFrom(complete.as("complete"))
    .select((of) => [of.fn.countAll<number>().as("all"), of.fn.sum<number>("has_failed").as("failed")])
    .executeTakeFirstOrThrow();
  return await reopen(transaction, run, {
    evaluators: run.evaluators,
    evaluated: failed + Number(judged.all),
    failed: failed + Number(judged.failed ?? 0),
  });
}

async function countFailedPredictions(transaction: Database, { id }: Run): Promise<number> {
  const { failed } = await transaction
    .selectFrom("predictions")
    .select((of) => of.fn.countAll<number>().as("failed"))
    .where("run_id", "=", id)
    .where("status", "=", "failed")
    .executeTakeFirstOrThrow();
  return Number(failed);
}

async function reopen(
  transaction: Database,
  run: Run,
  { evaluators, ...counts }: Pick<Run, "evaluators"> & Record<"evaluated" | "failed", number>,
): Promise<Run> {
  const row = await transaction
    .updateTable("runs")
    .set({
      evaluators: JSON.stringify(evaluators),
      ...counts,
      headline: null,
      // The process that works on it now counts by the old list. It loses the run, and the next one finds what is missing.
      // While the run is queued, only an upload can have the lease.
      ...(run.status === "queued" ? {} : { lease_id: null, lease_until: 0 }),
      ...(run.status === "finished" ? { status: "running" as const, finished_at: null } : {}),
    })
    .where("id", "=", run.id)
    .returning(runColumns)
    .executeTakeFirstOrThrow();
  return parseRun(row);
}
