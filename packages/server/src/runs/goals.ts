import type { Goal, GoalRequest, ReportEvaluator, RunFigures, RunGoal } from "@presage/contract";
import { isMeant } from "@presage/contract/describe-runs";
import { type Changer, recordChange } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { nowMicros, toIsoInstant } from "../platform/storage/columns.ts";
import type { GoalsTable } from "../platform/storage/schema/runs.ts";
import { inTransaction, type Store } from "../platform/storage/store.ts";
import { deleteGoal, upsertGoal } from "./goals-store.ts";

export type StoredGoal = GoalsTable;

/** Sets the goal of an account's runs of a name, whether there are any or not. */
export async function setGoal(
  { store }: { store: Store },
  requester: Changer,
  { runName, userId, ...goal }: GoalRequest & { runName: string; userId: string },
): Promise<StoredGoal> {
  return await inTransaction(store, requester, async (transaction) => {
    const stored = await upsertGoal(transaction, {
      id: Bun.randomUUIDv7(),
      account_id: requester.accountId,
      run_name: runName,
      evaluator: goal.evaluator,
      profile_name: goal.profile_name ?? null,
      pass_rate: goal.pass_rate,
      created_by: userId,
      created_at: nowMicros(),
    });
    await recordChange(transaction, requester, "goal.set", stored.id, { name: runName, ...goal });
    return stored;
  });
}

export async function removeGoal(
  { store }: { store: Store },
  requester: Changer,
  runName: string,
): Promise<void> {
  await inTransaction(store, requester, async (transaction) => {
    const id = await deleteGoal(transaction, requester.accountId, runName);
    if (id === undefined) throw new ServiceError("not_found", "Runs of this name have no goal.");
    await recordChange(transaction, requester, "goal.remove", id, { name: runName });
  });
}

export function toGoal(goal: StoredGoal): Goal {
  const { run_name, evaluator, profile_name, pass_rate, created_by, created_at } = goal;
  const what = { run_name, evaluator, profile_name, pass_rate };
  return { ...what, set_by: created_by, set_at: toIsoInstant(created_at) };
}

type Judged = Pick<ReportEvaluator, "evaluator" | "profile_name"> &
  Pick<RunFigures, "pass_rate" | "pass_interval" | "pass_rate_failures_as_zero">;

/** Whether a run reaches its goal. A failure counts as not passed, so that nothing is won by failing. */
export function judgeGoal(
  goal: StoredGoal,
  evaluators: readonly Judged[],
  { isPreliminary, isLeaky, isPilot }: { isPreliminary: boolean; isLeaky: boolean; isPilot: boolean },
): RunGoal {
  const { evaluator, profile_name, pass_rate } = goal;
  const decide = (): Pick<RunGoal, "state" | "why"> => {
    const undecided = (why: RunGoal["why"]) => ({ state: "undecided" as const, why });
    if (isPreliminary) return undecided("not_ended");
    const figures = evaluators.find((one) => isMeant(goal, one));
    if (figures === undefined || figures.pass_rate === null) return undecided("no_figure");
    const { pass_interval: interval, pass_rate_failures_as_zero: withFailures } = figures;
    if (interval === null) return undecided("no_interval");
    if (interval.upper < pass_rate) return { state: "missed", why: null };
    if (interval.lower < pass_rate) return undecided("within_interval");
    if (isLeaky) return undecided("leaky");
    if (isPilot) return undecided("pilot");
    return (withFailures ?? 0) < pass_rate ? undecided("failures") : { state: "met", why: null };
  };
  return { evaluator, profile_name, pass_rate, ...decide() };
}
