import {
  Goal,
  GoalListQuery,
  GoalListResponse,
  GoalPath,
  GoalRequest,
  type ReportEvaluator,
  type RunFigures,
  type RunGoal,
  type RunProvenance,
} from "@presage/contract";
import { isMeant } from "@presage/contract/describe-runs";
import { errorResponse, page, response } from "../http/describe.ts";
import { readKeysetPage, toCursor } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { nowMicros, toIsoInstant } from "../platform/storage/columns.ts";
import { type KeysetPage, type ListPart, selectNewestFirst } from "../platform/storage/lists.ts";
import type { GoalsTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { inTransaction, type Store } from "../platform/storage/store.ts";
import examples from "./examples.json" with { type: "json" };

interface Services {
  store: Store;
}

type Judged = Pick<ReportEvaluator, "evaluator" | "profile_name"> &
  Pick<RunFigures, "pass_rate" | "pass_interval" | "pass_rate_failures_as_zero">;

const listGoals = route("GET", "/v1/goals", {
  needs: "read",
  id: "listGoals",
  summary: "List the goals of runs",
  description: "Returns the pass rates that runs are to reach, by the name of the runs.",
  query: GoalListQuery,
  responses: { "200": response("The goals, latest first", GoalListResponse, page(examples.goal)) },
  async handle({ store }: Services, { requester, query }) {
    const reader = store.briefReader(requester);
    const { rows, next } = await selectGoals(reader, requester.accountId, readKeysetPage(query));
    return reply(200, { data: rows.map(toGoal), next: toCursor(next) });
  },
});

const setOwnGoal = route("PUT", "/v1/goals/:run_name", {
  needs: "evaluate",
  id: "setGoal",
  summary: "Set the goal of runs",
  description:
    "Sets the pass rate that all runs with a name should reach, existing and future ones. Lists and reports say whether a run reaches it.",
  params: GoalPath,
  body: GoalRequest,
  bodyExample: { evaluator: "exact-match", pass_rate: 0.8 },
  responses: { "200": response("The goal", Goal, examples.goal) },
  async handle(services: Services, { call, requester, params, body }) {
    const wanted = { ...body, runName: params.run_name, userId: call.caller.userId };
    return reply(200, toGoal(await setGoal(services, requester, wanted)));
  },
});

const removeOwnGoal = route("DELETE", "/v1/goals/:run_name", {
  needs: "evaluate",
  id: "removeGoal",
  summary: "Remove the goal of runs",
  description: "Removes the goal of runs with this name.",
  params: GoalPath,
  responses: {
    "204": { description: "Removed" },
    "404": errorResponse("Runs of this name have no goal", "Runs of this name have no goal."),
  },
  async handle(services: Services, { requester, params }) {
    await removeGoal(services, requester, params.run_name);
    return reply(204, undefined);
  },
});

export const goalRoutes = [listGoals, setOwnGoal, removeOwnGoal];

/** Sets the goal of an account's runs with a name, whether any exist or not. */
async function setGoal(
  { store }: { store: Store },
  requester: Changer,
  { runName, userId, ...goal }: GoalRequest & { runName: string; userId: string },
): Promise<GoalsTable> {
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

async function removeGoal({ store }: { store: Store }, requester: Changer, runName: string): Promise<void> {
  await inTransaction(store, requester, async (transaction) => {
    const id = await deleteGoal(transaction, requester.accountId, runName);
    if (id === undefined) throw new ServiceError("not_found", "Runs of this name have no goal.");
    await recordChange(transaction, requester, "goal.remove", id, { name: runName });
  });
}

function toGoal(goal: GoalsTable): Goal {
  const { run_name, evaluator, profile_name, pass_rate, created_by, created_at } = goal;
  const what = { run_name, evaluator, profile_name, pass_rate };
  return { ...what, set_by: created_by, set_at: toIsoInstant(created_at) };
}

/** Whether a run reaches its goal. A failure counts as not passed, so that failing never helps. */
export function judgeGoal(
  goal: GoalsTable,
  evaluators: readonly Judged[],
  { leaky: isLeaky, draw }: Pick<RunProvenance, "leaky" | "draw">,
  isPreliminary: boolean,
): RunGoal {
  const { run_name, evaluator, profile_name, pass_rate } = goal;
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
    if (draw !== undefined) return undecided("pilot");
    return (withFailures ?? 0) < pass_rate ? undecided("failures") : { state: "met", why: null };
  };
  return { run_name, evaluator, profile_name, pass_rate, ...decide() };
}

/** Stores a goal, replacing any earlier goal of runs with its name. */
async function upsertGoal(transaction: Database, row: GoalsTable): Promise<GoalsTable> {
  const { evaluator, profile_name, pass_rate, created_by, created_at } = row;
  return await transaction
    .insertInto("goals")
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(["account_id", "run_name"])
        .doUpdateSet({ evaluator, profile_name, pass_rate, created_by, created_at }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Returns the goal's id; undefined if there was no goal. */
async function deleteGoal(transaction: Database, accountId: string, runName: string) {
  const row = await transaction
    .deleteFrom("goals")
    .where("account_id", "=", accountId)
    .where("run_name", "=", runName)
    .returning("id")
    .executeTakeFirst();
  return row?.id;
}

/** An account's goals, latest first. */
async function selectGoals(
  reader: Database,
  accountId: string,
  page: KeysetPage,
): Promise<ListPart<GoalsTable>> {
  return await selectNewestFirst(
    reader.selectFrom("goals").selectAll().where("account_id", "=", accountId),
    page,
  );
}

/** The goals of runs with these names, by name. */
export async function selectGoalsOf(
  reader: Database,
  accountId: string,
  runs: readonly { name: string }[],
): Promise<ReadonlyMap<string, GoalsTable>> {
  const names = [...new Set(runs.map(({ name }) => name))];
  if (names.length === 0) return new Map();
  const rows = await reader
    .selectFrom("goals")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("run_name", "in", names)
    .execute();
  return new Map(rows.map((row) => [row.run_name, row]));
}
