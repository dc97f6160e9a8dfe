import { CallerGoneError } from "../errors.ts";
import type { EvaluationOrder } from "./evaluation-order.ts";
import type { Registry } from "./evaluators/registry.ts";
import { type FindProfile, type ResolvedEvaluator, resolveEvaluators } from "./resolve-evaluators.ts";
import type { EvaluationRecord, KeptResult } from "./results/evaluation-record.ts";
import type { FindConfidenceInterval } from "./results/history.ts";
import type { ResultsKeeper } from "./results/keep-results.ts";
import type { RunEvaluator } from "./run-evaluator.ts";

export interface EvaluateParts {
  registry: Registry;
  findProfile: FindProfile;
  runEvaluator: RunEvaluator;
  findConfidenceInterval: FindConfidenceInterval;
  keeper: ResultsKeeper;
}

/** A result that was kept, or one that nobody wanted kept. */
export type Evaluation = EvaluationRecord | KeptResult;

/** Runs every evaluator of an order at the same time and keeps what is to be kept before it returns, in their order. */
export type Evaluate = (order: EvaluationOrder, callerGone: AbortSignal) => Promise<Evaluation[]>;

export function createEvaluate(parts: EvaluateParts): Evaluate {
  const { registry, findProfile, runEvaluator, findConfidenceInterval, keeper } = parts;

  async function evaluateOne(
    order: EvaluationOrder,
    { id, family, profile, wanted }: ResolvedEvaluator,
    callerGone: AbortSignal,
  ): Promise<EvaluationRecord> {
    const { accountId, sample, filing } = order;
    const { explainStrategy } = wanted;
    const finding = await runEvaluator({ family, profile, sample, accountId, explainStrategy }, callerGone);
    const confidenceInterval =
      order.hasConfidenceInterval && finding.status === "success"
        ? await findConfidenceInterval(accountId, id, profile)
        : undefined;
    return {
      accountId,
      evaluatorId: id,
      evaluatorFamily: family.name,
      profile: { name: profile.name, publicId: profile.publicId, revision: profile.revision },
      explainStrategy,
      isExternal: false,
      sample,
      filing,
      finding: confidenceInterval === undefined ? finding : { ...finding, confidenceInterval },
    };
  }

  return async (order, callerGone) => {
    const resolved = await resolveEvaluators(registry, findProfile, order.accountId, order.evaluators);
    const records = await Promise.all(resolved.map((one) => evaluateOne(order, one, callerGone)));
    if (callerGone.aborted) throw new CallerGoneError();
    const wanted = records.filter((record) => isWanted(record, order.capture));
    const kept = await keeper.keep(wanted);
    const keptOf = new Map(wanted.map((record, index) => [record, kept[index]]));
    return records.map((record) => keptOf.get(record) ?? record);
  };
}

function isWanted({ finding }: EvaluationRecord, capture: EvaluationOrder["capture"]): boolean {
  if (capture === "none") return false;
  return capture === "all" || finding.pass !== true;
}
