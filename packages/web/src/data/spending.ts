import type { BudgetRequest, Presage, SpendingResponse } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { type Period, periodBounds } from "../format/times.ts";
import { useChange } from "./client.ts";

/** The spending of keys and users from a time until now. Only the name of the period is part of the query key. */
function spendingSince(
  presage: Presage,
  name: string,
  bounds: () => { since: string; step: "hour" | "day" },
) {
  return queryOptions({
    queryKey: ["usage", "people", name],
    queryFn: ({ signal }): Promise<SpendingResponse> => presage.usage.people(bounds(), { signal }),
  });
}

export function spendingQuery(presage: Presage, period: Period) {
  return spendingSince(presage, period, () => periodBounds(period, Date.now()));
}

/** The spending in the current calendar month (UTC), which is also the period of budgets. */
export function monthSpendingQuery(presage: Presage) {
  return spendingSince(presage, "month", () => {
    const now = new Date();
    const since = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString();
    return { since, step: "day" };
  });
}

const budgetsKey = ["budgets"];

export function budgetsQuery(presage: Presage) {
  return queryOptions({
    queryKey: budgetsKey,
    queryFn: ({ signal }) => presage.budgets.list({ signal }),
  });
}

/** Sets the budget of the account or of a key, or removes it. */
export function useSetBudget() {
  return useChange(budgetsKey, (presage, request: BudgetRequest) => presage.budgets.set(request));
}
