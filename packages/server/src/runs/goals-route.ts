import { Goal, GoalListQuery, GoalListResponse, GoalPath, GoalRequest } from "@presage/contract";
import { errorResponse, page, response } from "../http/describe.ts";
import { readKeysetPage, toCursor } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import type { Store } from "../platform/storage/store.ts";
import { removeGoal, setGoal, toGoal } from "./goals.ts";
import { selectGoals } from "./goals-store.ts";

interface Services {
  store: Store;
}

const exampleGoal: Goal = {
  run_name: "nightly",
  evaluator: "exact-match",
  profile_name: null,
  pass_rate: 0.8,
  set_by: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59",
  set_at: "2026-11-28T09:12:44.120Z",
};

const listGoals = route("GET", "/v1/goals", {
  needs: "read",
  id: "listGoals",
  summary: "List the goals of runs",
  description: "Returns the pass rates that runs are to reach, by the name of the runs.",
  query: GoalListQuery,
  responses: { "200": response("The goals, the latest first", GoalListResponse, page(exampleGoal)) },
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
    "Sets the pass rate that all runs of a name are to reach, those there are and those to come. Lists and reports say whether a run does.",
  params: GoalPath,
  body: GoalRequest,
  bodyExample: { evaluator: "exact-match", pass_rate: 0.8 },
  responses: { "200": response("The goal", Goal, exampleGoal) },
  async handle(services: Services, { call, requester, params, body }) {
    const wanted = { ...body, runName: params.run_name, userId: call.caller.userId };
    return reply(200, toGoal(await setGoal(services, requester, wanted)));
  },
});

const removeOwnGoal = route("DELETE", "/v1/goals/:run_name", {
  needs: "evaluate",
  id: "removeGoal",
  summary: "Remove the goal of runs",
  description: "Runs of this name have no goal any more.",
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
