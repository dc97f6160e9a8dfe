import { type Budget, BudgetListResponse, BudgetRequest, type BudgetState } from "@presage/contract";
import { errorResponse, response } from "../http/describe.ts";
import type { Use } from "../http/exchange.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { notFound, SpendingRefusedError } from "../platform/errors.ts";
import type { Logger } from "../platform/observability/logger.ts";
import { costOf, type PriceList, type Spender, withoutNoise } from "../platform/prices.ts";
import { microsPerHour, microsPerMs, nowMicros, toFlag, toIsoInstant } from "../platform/storage/columns.ts";
import type { BudgetsTable } from "../platform/storage/schema/accounts.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { inTransaction, type Store } from "../platform/storage/store.ts";
import {
  claimWarning,
  deleteBudget,
  isKeyOf,
  selectAllBudgets,
  selectTokens,
  type TokensOfKey,
  upsertBudget,
} from "./budgets-store.ts";
import type { UsageTotals } from "./collect-usage.ts";
import examples from "./examples.json" with { type: "json" };
import { toAskedTokens, toModelTokens } from "./usage-store.ts";

interface BudgetServices {
  store: Store;
  prices: PriceList;
  spending: Pick<Spending, "budgetsOf">;
  /** Stores the uses counted so far, and reads all budgets again. */
  settleUsage(): Promise<void>;
  /** The models that are asked unless a request names another. */
  pricedModels(): string[];
}

const listBudgets = route("GET", "/v1/budgets", {
  needs: "read",
  id: "listBudgets",
  summary: "Show budgets and how much of them is spent",
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
    "Sets what the account, or one of its keys, may spend in a calendar month (UTC), or removes the budget. For owners. A budget needs a price list; if it stops calls, it also needs a price for each model that the server is known to ask. It applies immediately in the process that responds, and within 5 s in others. Spending is counted when a response arrives, so requests in progress can exceed a limit; processes see each other's spending within about 10 s.",
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

/** Sets or removes a budget. Returns all budgets that the account has afterwards. */
async function changeBudget(services: BudgetServices, requester: Changer, request: BudgetRequest) {
  refuseUnpriced(services, request);
  await storeBudget(services, requester, request);
  await services.settleUsage();
  return showBudgets(services, requester.accountId);
}

/** An unknown cost can be neither limited nor warned about. */
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
    const of = { account_id: accountId, api_key_id: keyId };
    const isRemoved = limit === null && (await deleteBudget(transaction, of));
    // A deleted key may have left a budget behind.
    if (!isRemoved && keyId !== "" && !(await isKeyOf(transaction, accountId, keyId)))
      throw notFound("API key");
    if (limit === null && !isRemoved) return;
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

/** A budget warns from this share of its limit on. */
const warningShare = 0.8;
const microsPerUnit = 1_000_000;

/** A calendar month (UTC). Hours are counted since 1970-01-01 UTC. */
interface Month {
  /** Months since 1970-01. */
  number: number;
  fromHour: number;
  /** Exclusive. */
  untilHour: number;
}

function monthAt(ms: number): Month {
  const date = new Date(ms);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const hourOf = (at: number) => Math.floor((at * microsPerMs) / microsPerHour);
  return {
    number: (year - 1970) * 12 + month,
    fromHour: hourOf(Date.UTC(year, month)),
    untilHour: hourOf(Date.UTC(year, month + 1)),
  };
}

export interface SpentBudget extends BudgetsTable {
  /** In the currency of the price list; null if there is none. */
  spent: number | null;
}

/** Null if the cost is unknown or the budget is 0. */
export function usedShare({ limit_micros, spent }: SpentBudget): number | null {
  return spent === null || limit_micros === 0 ? null : spent / (limit_micros / microsPerUnit);
}

function stateOf({ limit_micros, stops, spent }: SpentBudget): BudgetState {
  const limit = limit_micros / microsPerUnit;
  if (spent === null || spent < limit * warningShare) return "ok";
  return stops === 1 && spent >= limit ? "stopped" : "warning";
}

/** What accounts spend, compared with their budgets. */
export interface Spending {
  /** Counts a use immediately, before it is stored. */
  record(use: Use): void;
  /**
   * Reads budgets and what all processes have stored. `pending` are the uses that this process has not stored yet; none may be
   * stored while this runs.
   */
  refresh(pending: () => ReadonlyMap<string, UsageTotals>): Promise<void>;
  /** Why a budget does not allow a call to a model. */
  findRefusal(spender: Spender, model: string): SpendingRefusedError | undefined;
  budgetsOf(accountId: string): SpentBudget[];
  all(): SpentBudget[];
}

interface SpendingServices {
  database: Database;
  prices: PriceList;
  /** Absent: no warnings are logged. */
  logger?: Pick<Logger, "warn">;
  /** Milliseconds since 1970. */
  nowMs?: () => number;
}

const holderOf = (accountId: string, keyId: string) => `${accountId} ${keyId}`;

export function createSpending(services: SpendingServices): Spending {
  const { database, prices, nowMs = Date.now } = services;
  const readTokens = createTokenReader(database);
  let month = monthAt(nowMs());
  let budgets = new Map<string, SpentBudget>();

  const isOver = () => nowMs() * microsPerMs >= month.untilHour * microsPerHour;

  /** The budgets that a spender's calls count towards. */
  function budgetsFor(accountId: string, keyId: string | undefined): SpentBudget[] {
    if (budgets.size === 0) return [];
    const names = keyId ? [holderOf(accountId, ""), holderOf(accountId, keyId)] : [holderOf(accountId, "")];
    return names.flatMap((name) => budgets.get(name) ?? []);
  }

  function add(accountId: string, keyId: string | undefined, cost: number, to: typeof budgetsFor): void {
    for (const budget of to(accountId, keyId)) if (budget.spent !== null) budget.spent += cost;
  }

  return {
    record({ accountId, keyId, model, wasAsked = true, promptTokens = 0, completionTokens = 0, ...use }) {
      const list = prices.current();
      if (budgets.size === 0 || list === undefined || !wasAsked) return;
      const { upstreamCachedTokens = 0 } = use;
      const cost = costOf(list, model, { promptTokens, completionTokens, upstreamCachedTokens });
      if (cost !== null) add(accountId, keyId, cost, budgetsFor);
    },
    async refresh(pending) {
      const rows = await selectAllBudgets(database);
      const current = monthAt(nowMs());
      const list = prices.current();
      const accountIds = [...new Set(rows.map(({ account_id }) => account_id))].sort();
      const stored = list === undefined ? [] : await readTokens(accountIds, current);
      // No awaits from here to the sums below: uses recorded later are added to these budgets.
      const spent = list === undefined ? null : 0;
      month = current;
      budgets = new Map(
        rows.map((row) => [holderOf(row.account_id, row.api_key_id), { ...row, spent } as SpentBudget]),
      );
      if (list === undefined) return;
      for (const { account_id, key_id, model, ...tokens } of [...stored, ...unstored(pending(), current)]) {
        const cost = costOf(list, model, toAskedTokens(tokens));
        if (cost !== null) add(account_id, key_id, cost, budgetsFor);
      }
      for (const budget of budgets.values()) await warn(services, budget, current);
    },
    findRefusal({ accountId, keyId }, model) {
      for (const budget of budgetsFor(accountId, keyId)) {
        if (budget.stops === 0) continue;
        if (prices.current()?.models.has(model) !== true) return unpriced(budget, model);
        if (!isOver() && stateOf(budget) === "stopped") return exhausted(budget, month, prices);
      }
      return undefined;
    },
    budgetsOf: (accountId) => [...budgets.values()].filter(({ account_id }) => account_id === accountId),
    all: () => [...budgets.values()],
  };
}

/** Logs a budget's warning once a month, in whichever process comes first. */
async function warn({ database, prices, logger }: SpendingServices, budget: SpentBudget, month: Month) {
  const state = stateOf(budget);
  if (logger === undefined || state === "ok" || budget.warned_month === month.number) return;
  if (!(await claimWarning(database, budget, month.number))) return;
  const { account_id: accountId, api_key_id: keyId, limit_micros, stops, spent } = budget;
  logger.warn(
    {
      accountId,
      keyId: keyId || undefined,
      spent: withoutNoise(spent ?? 0),
      limit: limit_micros / microsPerUnit,
      currency: prices.current()?.currency,
      stops: stops === 1,
      state,
      resetsAt: resetsAt(month),
    },
    "a monthly budget is used up by 80 % or more",
  );
}

/** What this process has counted but not stored yet. */
function unstored(pending: ReadonlyMap<string, UsageTotals>, { fromHour }: Month): TokensOfKey[] {
  return [...pending.values()].filter(({ hour }) => hour >= fromHour).flatMap(toModelTokens);
}

/**
 * Reads what accounts used in a month. Past hours are read once an hour, because a month of many keys has a million rows. Usage that
 * a process could store only after more than an hour is found then.
 */
function createTokenReader(database: Database) {
  let known: { name: string; tokens: TokensOfKey[] } = { name: "", tokens: [] };

  return async (accountIds: readonly string[], { fromHour, untilHour }: Month): Promise<TokensOfKey[]> => {
    const hour = Math.floor(nowMicros() / microsPerHour);
    // The previous hour may still be written to.
    const openFrom = Math.max(fromHour, hour - 1);
    const name = `${openFrom} ${fromHour} ${accountIds.join(" ")}`;
    if (known.name !== name)
      known = { name, tokens: await selectTokens(database, accountIds, fromHour, openFrom) };
    return [...known.tokens, ...(await selectTokens(database, accountIds, openFrom, untilHour))];
  };
}

function resetsAt({ untilHour }: Month): string {
  return new Date((untilHour * microsPerHour) / microsPerMs).toISOString();
}

function whose({ api_key_id }: BudgetsTable): string {
  return api_key_id === "" ? "this account" : "this API key";
}

function exhausted(budget: SpentBudget, month: Month, prices: PriceList): SpendingRefusedError {
  const currency = prices.current()?.currency ?? "";
  const money = (amount: number) => `${withoutNoise(Number(amount.toFixed(4)))} ${currency}`;
  const limit = money(budget.limit_micros / microsPerUnit);
  return new SpendingRefusedError(
    `The monthly budget of ${whose(budget)} is spent: ${money(budget.spent ?? 0)} of ${limit}. Requests that ask a model are refused until ${resetsAt(month)}, when the next month begins, or until an owner of the account raises the budget.`,
  );
}

function unpriced(budget: BudgetsTable, model: string): SpendingRefusedError {
  return new SpendingRefusedError(
    `The model ${JSON.stringify(model)} has no price, and the monthly budget of ${whose(budget)} refuses what it cannot count. The operator of the server can add a price to the list that PRESAGE_PRICES names.`,
    model,
  );
}
