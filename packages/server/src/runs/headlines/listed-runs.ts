import type { ListedRun, RunHeadline } from "@presage/contract";
import { isMeant } from "@presage/contract/describe-runs";
import { type Prices, withoutNoise } from "../../platform/prices.ts";
import type { GoalsTable } from "../../platform/storage/schema/runs.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import { judgeGoal, selectGoalsOf } from "../goals.ts";
import { isPreliminary, type Run, runCost, toRun } from "../run.ts";
import type { HeadedRun, StoredHeadline } from "./headlines-store.ts";

/** Runs as lists have them. */
export async function toListedRuns(
  { store }: { store: Store },
  requester: Requester,
  runs: readonly HeadedRun[],
  prices: Prices | undefined,
): Promise<ListedRun[]> {
  const goals = await selectGoalsOf(store.briefReader(requester), requester.accountId, runs);
  return runs.map((run) => toListedRun(run, goals.get(run.name), prices));
}

/** By its goal's evaluator, at today's prices. */
function toListedRun(run: HeadedRun, goal: GoalsTable | undefined, prices: Prices | undefined): ListedRun {
  const { headline } = run;
  const evaluators = headline?.evaluators ?? [];
  const isOpen = headline === null && isPreliminary(run);
  return {
    ...toRun(run),
    headline: headline && toHeadline(run, headline, goal, prices),
    goal: goal === undefined ? null : judgeGoal(goal, evaluators, run.provenance, isOpen),
  };
}

function toHeadline(
  run: Run,
  { evaluators, asked, tokens }: StoredHeadline,
  goal: GoalsTable | undefined,
  prices: Prices | undefined,
): RunHeadline | null {
  const found = evaluators.find((one) => goal !== undefined && isMeant(goal, one)) ?? evaluators[0];
  if (found === undefined) return null;
  // Headlines of before have it of free-running runs, too.
  const main = run.mode === "free-running" ? { ...found, no_change: null } : found;
  const tokensByModel = new Map(
    tokens.map(({ model, prompt_tokens: prompt, cached_tokens: cached, completion_tokens: completion }) => [
      model,
      { prompt, cached, completion },
    ]),
  );
  const cost = runCost(run, tokensByModel, prices);
  if (cost === null) return { ...main, cost: null };
  const { currency, total, unpriced_tokens } = cost;
  const isWhole = total !== null && unpriced_tokens === 0 && asked > 0;
  return {
    ...main,
    cost: {
      currency,
      total,
      unpriced_tokens,
      per_1000: isWhole ? withoutNoise((1000 * total) / asked) : null,
    },
  };
}
