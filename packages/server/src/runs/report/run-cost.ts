import type { RunReport } from "@presage/contract";
import { costOf, type Prices, withoutNoise } from "../../platform/cost-of.ts";
import type { Run } from "../run.ts";
import type { PredictionTotals } from "./prediction-totals.ts";

/** What a run's predictions cost at today's prices; null without prices, or if the run calls no model. */
export function runCost(
  { target }: Pick<Run, "target">,
  { tokensByModel }: Pick<PredictionTotals, "tokensByModel">,
  prices: Prices | undefined,
): NonNullable<RunReport["cost"]> | null {
  if (prices === undefined || target.kind === "imported" || target.kind === "external") return null;
  const models = [...tokensByModel].map(([model, { prompt, cached, completion }]) => {
    const tokens = { promptTokens: prompt, upstreamCachedTokens: cached, completionTokens: completion };
    const cost = costOf(prices, model ?? undefined, tokens);
    return {
      model,
      prompt_tokens: prompt,
      cached_tokens: cached,
      completion_tokens: completion,
      cost: cost === null ? null : withoutNoise(cost),
    };
  });
  const priced = models.flatMap(({ cost }) => cost ?? []);
  return {
    currency: prices.currency,
    total:
      models.length > 0 && priced.length === 0
        ? null
        : withoutNoise(priced.reduce((sum, one) => sum + one, 0)),
    unpriced_tokens: models
      .filter(({ cost }) => cost === null)
      .reduce((sum, one) => sum + one.prompt_tokens + one.completion_tokens, 0),
    models: models.sort((a, b) => ((a.model ?? "") < (b.model ?? "") ? -1 : 1)),
  };
}
