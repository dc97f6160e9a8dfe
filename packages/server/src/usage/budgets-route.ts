import { BudgetListResponse, BudgetRequest } from "@presage/contract";
import { errorResponse, response } from "../http/describe.ts";
import { reply, route } from "../http/route.ts";
import { type BudgetServices, changeBudget, showBudgets } from "./budgets.ts";

const example: BudgetListResponse = {
  currency: "USD",
  since: "2026-11-01T00:00:00.000Z",
  resets_at: "2026-12-01T00:00:00.000Z",
  data: [{ api_key_id: null, limit: 500, stops: true, spent: 412.75, share: 0.8255, state: "warning" }],
};

const listBudgets = route("GET", "/v1/budgets", {
  needs: "read",
  id: "listBudgets",
  tag: "dashboard",
  summary: "Show budgets and what is spent of them",
  description:
    "Shows what the account and its keys may spend in this calendar month (UTC), and what they have spent. Calls of a run and of judges count for the key or the user who started them.",
  responses: { "200": response("The budgets", BudgetListResponse, example) },
  async handle(services: BudgetServices, { requester }) {
    return reply(200, showBudgets(services, requester.accountId));
  },
});

const setBudget = route("PATCH", "/v1/budgets", {
  needs: "manage",
  id: "setBudget",
  tag: "dashboard",
  summary: "Set or remove a budget",
  description:
    "Sets what the account, or one of its keys, may spend in a calendar month (UTC), or removes that. For owners. It needs a price list, and one that stops needs a price for each model that the server is known to ask. It applies at once in the process that responds, and within 5 s in others. Spending is counted when a response has come, so requests in progress can exceed a limit, and processes learn of each other's within about 10 s.",
  body: BudgetRequest,
  bodyExample: { api_key_id: null, limit: 500, stops: true },
  responses: {
    "200": response("All budgets of the account", BudgetListResponse, example),
    "404": errorResponse("The account has no such key", "There is no such API key."),
  },
  async handle(services: BudgetServices, { requester, body }) {
    return reply(200, await changeBudget(services, requester, body));
  },
});

export const budgetRoutes = [listBudgets, setBudget];
