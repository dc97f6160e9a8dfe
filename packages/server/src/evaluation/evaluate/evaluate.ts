import { createHash } from "node:crypto";
import { ClientDisconnectedError } from "../../errors.ts";
import { createRetryBudget } from "../../limits/retry-budget.ts";
import type { Registry } from "../evaluators/registry.ts";
import type { ResultWriter } from "../results/keep/result-writer.ts";
import type { EvaluationRecord, StoredResult } from "../results/record/evaluation-record.ts";
import type { FindConfidenceInterval } from "../results/summary/find-confidence-interval.ts";
import type { EvaluationRequest } from "./evaluation-request.ts";
import { createKeysUnderWay } from "./keys-in-flight.ts";
import { type FindProfile, type ResolvedEvaluator, resolveEvaluators } from "./resolve-evaluators.ts";
import type { RequestAllowance, RunEvaluator } from "./run-evaluator.ts";

/** How long the evaluators of one request may hold up the main thread, all of them together. */
const maxMainThreadMs = 10;

export interface EvaluateParts {
  registry: Registry;
  findProfile: FindProfile;
  runEvaluator: RunEvaluator;
  findConfidenceInterval: FindConfidenceInterval;
  resultWriter: ResultWriter;
  findKept: FindKept;
}

/** The results that an account has under some request keys, by key. */
export type FindKept = (
  accountId: string,
  requestKeys: readonly string[],
) => Promise<Map<string, StoredResult>>;

/** A result that was kept, or one that nobody wanted kept. */
export type Evaluation = EvaluationRecord | StoredResult;

/** Runs every evaluator of an order at the same time and keeps what is to be kept before it returns, in their order. */
export type Evaluate = (order: EvaluationRequest, callerGone: AbortSignal) => Promise<Evaluation[]>;

export function createEvaluate(parts: EvaluateParts): Evaluate {
  const { registry, findProfile, runEvaluator, findConfidenceInterval, resultWriter, findKept } = parts;
  const { withKeys } = createKeysUnderWay();

  async function evaluateOne(
    order: EvaluationRequest,
    { id, family, profile, wanted }: ResolvedEvaluator,
    requestKey: string | undefined,
    allowance: RequestAllowance,
    callerGone: AbortSignal,
  ): Promise<EvaluationRecord> {
    const { accountId, sample, metadata } = order;
    const { explainStrategy } = wanted;
    const outcome = await runEvaluator(
      { family, profile, sample, accountId, explainStrategy, allowance },
      callerGone,
    );
    const confidenceInterval =
      order.hasConfidenceInterval && outcome.status === "success"
        ? await findConfidenceInterval({ accountId, signal: callerGone }, id, profile)
        : undefined;
    return {
      accountId,
      evaluatorId: id,
      evaluatorFamily: family.name,
      profile: { name: profile.name, publicId: profile.publicId, revision: profile.revision },
      explainStrategy,
      isExternal: false,
      // What came to no verdict may be tried again under the same key.
      ...(requestKey === undefined || outcome.status !== "success" ? {} : { requestKey }),
      sample,
      metadata,
      outcome: confidenceInterval === undefined ? outcome : { ...outcome, confidenceInterval },
    };
  }

  async function evaluateAll(
    order: EvaluationRequest,
    resolved: readonly ResolvedEvaluator[],
    { keys, earlier }: { keys: readonly string[]; earlier: ReadonlyMap<string, StoredResult> },
    callerGone: AbortSignal,
  ): Promise<Evaluation[]> {
    const allowance = { mainThreadMs: maxMainThreadMs, mayRetry: createRetryBudget() };
    const evaluations = await Promise.all(
      resolved.map((one, index): Promise<Evaluation> | Evaluation => {
        const requestKey = keys[index];
        return earlier.get(requestKey ?? "") ?? evaluateOne(order, one, requestKey, allowance, callerGone);
      }),
    );
    if (callerGone.aborted) throw new ClientDisconnectedError();
    const isNew = evaluations.filter(
      (evaluation) => !("id" in evaluation) && isWanted(evaluation, order.capture),
    );
    const kept = await resultWriter.write(isNew);
    const keptOf = new Map(isNew.map((evaluation, index) => [evaluation, kept[index]]));
    return evaluations.map((evaluation) => keptOf.get(evaluation) ?? evaluation);
  }

  return async (order, callerGone) => {
    const { accountId } = order;
    const resolved = await resolveEvaluators(registry, findProfile, accountId, order.evaluators);
    const keys = requestKeys(order, resolved);
    if (keys.length === 0) {
      return await evaluateAll(order, resolved, { keys, earlier: new Map() }, callerGone);
    }
    const ofAccount = keys.map((key) => `${accountId}/${key}`);
    return await withKeys(ofAccount, callerGone, async () => {
      const earlier = await findKept(accountId, keys);
      return await evaluateAll(order, resolved, { keys, earlier }, callerGone);
    });
  };
}

function isWanted({ outcome }: EvaluationRecord, capture: EvaluationRequest["capture"]): boolean {
  if (capture === "none") return false;
  return capture === "all" || outcome.pass !== true;
}

/**
 * One evaluator with one revision of a profile gives one verdict on a sample under a caller's key, each time that it is
 * named. Another sample is another request, whatever its key.
 */
function requestKeys(
  { idempotencyKey, sample }: EvaluationRequest,
  resolved: readonly ResolvedEvaluator[],
): string[] {
  if (idempotencyKey === undefined) return [];
  const digest = createHash("sha256").update(JSON.stringify(sample)).digest("base64url");
  const named = new Map<string, number>();
  return resolved.map(({ id, profile }) => {
    const key = `${idempotencyKey}/${digest}/${id}/${profile.publicId}/${profile.revision}`;
    const times = (named.get(key) ?? 0) + 1;
    named.set(key, times);
    return `${key}/${times}`;
  });
}
