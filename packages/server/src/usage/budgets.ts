import { type Budget, BudgetListResponse, BudgetRequest } from "@presage/contract";
import { errorResponse, response } from "../http/describe.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { type PriceList, withoutNoise } from "../platform/prices.ts";
import { microsPerHour, toFlag, toIsoInstant } from "../platform/storage/columns.ts";
import { inTransaction, type Store } from "../platform/storage/store.ts";
import { deleteBudget, isKeyOf, upsertBudget } from "./budgets-store.ts";
import examples from "./examples.json" with { type: "json" };
import {
  microsPerUnit,
  monthAt,
  resetsAt,
  type Spending,
  type SpentBudget,
  stateOf,
  usedShare,
} from "./spending.ts";

interface BudgetServices {
  store: Store;
  prices: PriceList;
  spending: Pick<Spending, "budgetsOf">;
  /** Stores what is counted, and reads all budgets again. */
  settleUsage(): Promise<void>;
  /** The models that are asked unless a request names another. */
  pricedModels(): string[];
}

const listBudgets = route("GET", "/v1/budgets", {
  needs: "read",
  id: "listBudgets",
  summary: "Show budgets and what is spent of them",
  description:
    "Shows what the account and its keys may spend in this calendar month (UTC), and what they have spent. Calls of a run and of judges count for the key or the user who started them.",
  responses: { "200": response("The budgets", BudgetListResponse, examples.budgets) },
  async handle(services: BudgetServices, { requester }) {
    return reply(200, showBudgets(services, requester.accountId));
  },
});

const setBudget = route("PATCH", "/v1/budgets", {
  needs: "manage",
  id: "setBudget",
  summary: "Set or remove a budget",
  description:
    "Sets what the account, or one of its keys, may spend in a calendar month (UTC), or removes that. For owners. It needs a price list, and one that stops needs a price for each model that the server is known to ask. It applies at once in the process that responds, and within 5 s in others. Spending is counted when a response has come, so requests in progress can exceed a limit, and processes learn of each other's within about 10 s.",
  body: BudgetRequest,
  bodyExample: { api_key_id: null, limit: 500, stops: true },
  responses: {
    "200": response("All budgets of the account", BudgetListResponse, examples.budgets),
    "404": errorResponse("The account has no such key", "There is no such API key."),
  },
  async handle(services: BudgetServices, { requester, body }) {
    return reply(200, await changeBudget(services, requester, body));
  },
});

export const budgetRoutes = [listBudgets, setBudget];

/** Sets a budget, or removes it. Returns all that the account has then. */
async function changeBudget(services: BudgetServices, requester: Changer, request: BudgetRequest) {
  refuseUnpriced(services, request);
  await storeBudget(services, requester, request);
  await services.settleUsage();
  return showBudgets(services, requester.accountId);
}

/** What costs nobody knows can neither be limited nor warned of. */
function refuseUnpriced({ prices, pricedModels }: BudgetServices, { limit, stops }: BudgetRequest): void {
  if (limit === null) return;
  const list = prices.current();
  if (list === undefined)
    throw new InvalidRequestError([
      valueError(
        ["body", "limit"],
        "This server has no price list; its operator can name one with PRESAGE_PRICES",
        limit,
      ),
    ]);
  const unpriced = stops === true ? pricedModels().filter((model) => !list.models.has(model)) : [];
  if (unpriced.length > 0)
    throw new InvalidRequestError([
      valueError(
        ["body", "stops"],
        `There is no price for ${unpriced.map((model) => JSON.stringify(model)).join(", ")}, so requests for it would be refused; add it to the price list`,
        stops,
      ),
    ]);
}

async function storeBudget(
  { store }: BudgetServices,
  requester: Changer,
  { api_key_id, limit, stops = false }: BudgetRequest,
): Promise<void> {
  const { accountId } = requester;
  const keyId = api_key_id?.toLowerCase() ?? "";
  await inTransaction(store, requester, async (transaction) => {
    if (keyId !== "" && !(await isKeyOf(transaction, accountId, keyId)))
      throw new ServiceError("not_found", "There is no such API key.");
    const of = { account_id: accountId, api_key_id: keyId };
    if (limit === null && !(await deleteBudget(transaction, of))) return;
    if (limit !== null) {
      const limit_micros = Math.round(limit * microsPerUnit);
      await upsertBudget(transaction, { ...of, limit_micros, stops: toFlag(stops) });
    }
    await recordChange(
      transaction,
      requester,
      limit === null ? "budget.remove" : "budget.set",
      keyId === "" ? accountId : keyId,
      limit === null ? {} : { limit, stops },
    );
  });
}

/** Its budgets, and what is spent of them. */
function showBudgets(
  { prices, spending }: Pick<BudgetServices, "prices" | "spending">,
  accountId: string,
): BudgetListResponse {
  const month = monthAt(Date.now());
  return {
    currency: prices.current()?.currency ?? null,
    since: toIsoInstant(month.fromHour * microsPerHour),
    resets_at: resetsAt(month),
    data: spending
      .budgetsOf(accountId)
      .sort((a, b) => (a.api_key_id < b.api_key_id ? -1 : 1))
      .map(toBudget),
  };
}

function toBudget(budget: SpentBudget): Budget {
  const { api_key_id, limit_micros, stops, spent } = budget;
  const limit = limit_micros / microsPerUnit;
  return {
    api_key_id: api_key_id === "" ? null : api_key_id,
    limit,
    stops: stops === 1,
    spent: spent === null ? null : withoutNoise(spent),
    share: usedShare(budget),
    state: stateOf(budget),
  };
}
