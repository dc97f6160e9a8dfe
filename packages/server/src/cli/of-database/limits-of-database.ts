import { composeDeployments, composePrices, servedModels } from "../../app/compose-deployments.ts";
import type { OpenedStore } from "../../app/storage.ts";
import type { Config } from "../../config/config.ts";
import type { Changer } from "../../platform/audit.ts";
import { createLog } from "../../platform/observability/logger.ts";
import { removeGoal, setGoal, toGoal } from "../../runs/goals.ts";
import { selectGoals } from "../../runs/goals-store.ts";
import { changeBudget, showBudgets } from "../../usage/budgets.ts";
import { createSpending } from "../../usage/spending.ts";
import { type Client, readAll } from "../connect.ts";

/** Goals and budgets of the owner's account in an opened database. Servers read them again within seconds. */
export function limitsOfDatabase(
  store: OpenedStore,
  config: Config,
  requester: Changer,
): Pick<Client, "goals" | "budgets"> {
  const { accountId } = requester;
  const { logger } = createLog("silent");

  async function readBudgets() {
    const prices = await composePrices(config, logger);
    // The warning that a budget is nearly spent is left to a server's log.
    const spending = createSpending({ database: store.database, prices });
    const refresh = () => spending.refresh(() => new Map());
    await refresh();
    return { store, prices, spending, settleUsage: refresh };
  }

  return {
    goals: {
      async list() {
        const all = await readAll((page) => selectGoals(store.database, accountId, page));
        return all.map(toGoal);
      },
      set: async (runName, goal) =>
        toGoal(await setGoal({ store }, requester, { ...goal, runName, userId: store.owner.id })),
      remove: (runName) => removeGoal({ store }, requester, runName),
    },
    budgets: {
      list: async () => showBudgets(await readBudgets(), accountId),
      async set(request) {
        const services = await readBudgets();
        const { deployments, stopSandbox } = await composeDeployments(config, logger);
        const pricedModels = () => servedModels(config, deployments);
        return await changeBudget({ ...services, pricedModels }, requester, request).finally(stopSandbox);
      },
    },
  };
}
