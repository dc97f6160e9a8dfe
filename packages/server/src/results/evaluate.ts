import { createHash } from "node:crypto";
import type { ConfidenceInterval } from "@presage/contract";
import type { Sample } from "../evaluators/outcome.ts";
import type { UsableProfile } from "../evaluators/profiles/profiles.ts";
import type { Registry } from "../evaluators/registry.ts";
import {
  type ResolvedEvaluator,
  resolveEvaluators,
  type WantedEvaluator,
} from "../evaluators/resolve-evaluators.ts";
import type { RequestAllowance, RunEvaluator } from "../evaluators/run-evaluator.ts";
import type { Actor } from "../platform/audit.ts";
import { ClientDisconnectedError } from "../platform/errors.ts";
import { createRetryBudget, orAborted } from "../platform/limits/deadline.ts";
import type { EvaluatedSpan } from "../platform/observability/tracing.ts";
import { medianInterval, toHistogram } from "../platform/statistics/intervals.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { type FreeRunIds, findPlacements, placeResults, refuseRunIds } from "./placement.ts";
import type { NewProject } from "./projects-store.ts";
import { type EvaluationRecord, fromThousandths, type ResultMetadata, type StoredResult } from "./result.ts";
import { selectScoreCounts } from "./summary/summary-store.ts";
import type { ResultWriter } from "./write/result-writer.ts";
import { selectByRequestKeys } from "./write/stored-results-store.ts";

/** How long all evaluators of one request together may block the main thread. */
const maxMainThreadMs = 10;

export interface EvaluateServices {
  store: Store;
  registry: Registry;
  runEvaluator: RunEvaluator;
  resultWriter: ResultWriter;
  keysInFlight: KeysInFlight;
  freeRunIds: FreeRunIds;
}

/** A request to evaluate a sample. */
export interface EvaluationRequest {
  accountId: string;
  /** Who evaluates, and so who creates the project. */
  actor: Actor;
  /** Calls to judges' models count for it. Absent: they count for no key. */
  keyId?: string | undefined;
  sample: Sample;
  evaluators: readonly WantedEvaluator[];
  metadata: ResultMetadata;
  /** In place of the metadata's project id. It is created, if there is none of this name, when a result is to be stored. */
  project?: NewProject | undefined;
  /** Which results are stored: all, all that did not pass, or none. */
  capture: "all" | "fails-only" | "none";
  /** Whether each score comes with the interval of all earlier ones. */
  hasConfidenceInterval: boolean;
  /** The client's name for this request. A verdict that is stored under it is returned again instead of being found again. */
  idempotencyKey?: string | undefined;
  /** Calls to models are traced below it. */
  span?: EvaluatedSpan | undefined;
}

/** A stored result, or one that the request did not want stored. */
export type Evaluation = EvaluationRecord | StoredResult;

/**
 * Runs all evaluators of a request concurrently and returns their outcomes in order, stored if the request wants that.
 * Throws an `InvalidEvaluatorsError` for evaluators or profiles that cannot be used.
 */
export async function evaluate(
  services: EvaluateServices,
  request: EvaluationRequest,
  clientSignal: AbortSignal,
): Promise<Evaluation[]> {
  const { accountId } = request;
  const resolved = await resolveEvaluators(services, accountId, request.evaluators);
  await refuseRunIds(services, accountId, [request.metadata.runId]);
  const keys = requestKeys(request, resolved);
  if (keys.length === 0) return await evaluateAll(services, request, resolved, clientSignal);
  const accountKeys = keys.map((key) => `${accountId}/${key}`);
  return await services.keysInFlight.withKeys(accountKeys, clientSignal, async () => {
    // A few rows by their keys, not behind long reads.
    const earlier = await selectByRequestKeys(services.store.database, accountId, keys);
    return await evaluateAll(services, request, resolved, clientSignal, keys, earlier);
  });
}

async function evaluateAll(
  services: EvaluateServices,
  request: EvaluationRequest,
  resolved: readonly ResolvedEvaluator[],
  clientSignal: AbortSignal,
  keys: readonly string[] = [],
  earlier: ReadonlyMap<string, StoredResult> = new Map(),
): Promise<Evaluation[]> {
  const { keyId, span } = request;
  const allowance = { mainThreadMs: maxMainThreadMs, mayRetry: createRetryBudget(), keyId, span };
  const found = await Promise.all(
    resolved.map((one, index): Promise<Evaluation> | Evaluation => {
      const requestKey = keys[index];
      const stored = requestKey === undefined ? undefined : earlier.get(requestKey);
      return stored ?? evaluateOne(services, request, one, requestKey, allowance, clientSignal);
    }),
  );
  if (clientSignal.aborted) throw new ClientDisconnectedError();
  const evaluations = await place(services, request, found, clientSignal);
  const isNew = evaluations.filter((evaluation) => isToBeStored(evaluation, request));
  const kept = await services.resultWriter.write(isNew);
  const keptOf = new Map(isNew.map((evaluation, index) => [evaluation, kept[index]]));
  return evaluations.map((evaluation) => keptOf.get(evaluation) ?? evaluation);
}

async function evaluateOne(
  services: EvaluateServices,
  { accountId, sample, metadata, hasConfidenceInterval }: EvaluationRequest,
  { id, family, profile, explainStrategy }: ResolvedEvaluator,
  requestKey: string | undefined,
  allowance: RequestAllowance,
  clientSignal: AbortSignal,
): Promise<EvaluationRecord> {
  const task = { family, profile, sample, accountId, explainStrategy, allowance };
  const outcome = await services.runEvaluator(task, clientSignal);
  const isSuccess = outcome.status === "success";
  if (hasConfidenceInterval && isSuccess) {
    const requester = { accountId, signal: clientSignal };
    outcome.confidenceInterval = await findConfidenceInterval(services, requester, id, profile);
  }
  return {
    accountId,
    evaluatorId: id,
    evaluatorFamily: family.name,
    profile: { name: profile.name, publicId: profile.publicId, revision: profile.revision },
    explainStrategy,
    isExternal: false,
    // Without a verdict, the same key may be used for another try.
    requestKey: isSuccess ? requestKey : undefined,
    sample,
    metadata,
    outcome,
  };
}

/** The interval of the median of all scores of an evaluator with one revision of a profile, in every app and run. */
export async function findConfidenceInterval(
  { store }: { store: Store },
  requester: Requester,
  evaluatorId: string,
  profile: UsableProfile,
): Promise<ConfidenceInterval> {
  const counts = await selectScoreCounts(
    store.briefReader(requester),
    requester.accountId,
    evaluatorId,
    profile,
  );
  const histogram = toHistogram(counts.map(({ score_mille, count }) => [score_mille, count] as const));
  const { lower, median, upper } = medianInterval(histogram);
  return {
    strategy: "full-history",
    alpha: 0.05,
    lower: fromThousandths(lower),
    median: fromThousandths(median),
    upper: fromThousandths(upper),
  };
}

/** The evaluations with their project. It is created only for results that are about to be stored. */
async function place(
  services: EvaluateServices,
  request: EvaluationRequest,
  evaluations: readonly Evaluation[],
  signal: AbortSignal,
): Promise<readonly Evaluation[]> {
  const { accountId, actor, project, metadata } = request;
  const { projectId, experimentId } = metadata;
  if (project === undefined && experimentId === undefined) return evaluations;
  const wanted = [{ projectId, project, experimentId }];
  const [placement] = evaluations.some((evaluation) => isToBeStored(evaluation, request))
    ? await placeResults(services, { accountId, signal, actor }, wanted)
    : await findPlacements(services, accountId, wanted);
  return evaluations.map((evaluation) =>
    "id" in evaluation ? evaluation : { ...evaluation, metadata: { ...metadata, ...placement } },
  );
}

/** Whether an evaluation is to be stored and is not stored yet. */
function isToBeStored(evaluation: Evaluation, { capture }: EvaluationRequest): boolean {
  if ("id" in evaluation || capture === "none") return false;
  return capture === "all" || evaluation.outcome.pass !== true;
}

/**
 * For one Idempotency-Key, each mention of an evaluator with a revision of a profile yields one stored verdict.
 * Another sample is another request, whatever its key.
 */
function requestKeys(
  { idempotencyKey, sample }: EvaluationRequest,
  resolved: readonly ResolvedEvaluator[],
): string[] {
  if (idempotencyKey === undefined) return [];
  const digest = createHash("sha256").update(JSON.stringify(sample)).digest("base64url");
  const timesNamed = new Map<string, number>();
  return resolved.map(({ id, profile }) => {
    const key = `${idempotencyKey}/${digest}/${id}/${profile.publicId}/${profile.revision}`;
    const times = (timesNamed.get(key) ?? 0) + 1;
    timesNamed.set(key, times);
    return `${key}/${times}`;
  });
}

export type KeysInFlight = ReturnType<typeof createKeysInFlight>;

/** Request keys of the requests in flight in this process. */
export function createKeysInFlight() {
  const inFlight = new Map<string, Promise<void>>();

  return {
    /**
     * Runs `work` for some keys. If another request works with one of them, this waits for it first, since its results are stored by
     * then. Those that waited for one request continue together: if it stored nothing, each does its own work.
     */
    async withKeys<Result>(
      keys: readonly string[],
      clientSignal: AbortSignal,
      work: () => Promise<Result>,
    ): Promise<Result> {
      const others = new Set(keys.flatMap((key) => inFlight.get(key) ?? []));
      if (others.size > 0) await orAborted(Promise.all(others), clientSignal);
      const done = Promise.withResolvers<void>();
      const own = keys.filter((key) => !inFlight.has(key));
      for (const key of own) inFlight.set(key, done.promise);
      try {
        return await work();
      } finally {
        for (const key of own) inFlight.delete(key);
        done.resolve();
      }
    },
  };
}
