import { createHash } from "node:crypto";
import {
  type ConfidenceInterval,
  EvaluateRequest,
  EvaluateResponse,
  type EvaluationResult,
} from "@presage/contract";
import { z } from "zod";
import {
  itemJson,
  type NewItem,
  readReferences,
  readSample,
  withOldItemNames,
} from "../evaluators/old-names.ts";
import { charactersOf, type Sample } from "../evaluators/outcome.ts";
import type { UsableProfile } from "../evaluators/profiles/profiles.ts";
import type { Registry } from "../evaluators/registry.ts";
import {
  findEvaluatorIssues,
  InvalidEvaluatorsError,
  type ResolvedEvaluator,
  resolveEvaluators,
  toEvaluatorIssues,
  type WantedEvaluator,
} from "../evaluators/resolve-evaluators.ts";
import type { RequestAllowance, RunEvaluator } from "../evaluators/run-evaluator.ts";
import { spenderOf } from "../http/caller.ts";
import { body, budgetSpent, errorResponse, response, unavailable } from "../http/describe.ts";
import { admit, countUsage, type HttpServices } from "../http/exchange.ts";
import { reserveResults } from "../http/memory.ts";
import { readExactBody, readIdempotencyKey } from "../http/request.ts";
import { isLongResponse } from "../http/response.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError } from "../http/validate.ts";
import type { Actor } from "../platform/audit.ts";
import { ClientDisconnectedError, ServiceError } from "../platform/errors.ts";
import type { Admission } from "../platform/limits/admission.ts";
import { createRetryBudget, orAborted } from "../platform/limits/deadline.ts";
import type { EvaluatedSpan } from "../platform/observability/tracing.ts";
import { medianInterval, toHistogram } from "../platform/statistics/intervals.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import examples from "./examples.json" with { type: "json" };
import { type FreeRunIds, findPlacements, placeResults, refuseRunIds } from "./placement.ts";
import type { NewProject } from "./projects-store.ts";
import {
  type EvaluationRecord,
  fromThousandths,
  type ResultMetadata,
  readResultMetadata,
  type StoredResult,
  toEvaluationResult,
} from "./result.ts";
import { selectScoreCounts } from "./summary/summary-store.ts";
import type { ResultWriter } from "./write/result-writer.ts";
import { selectByRequestKeys } from "./write/stored-results-store.ts";

const idempotencyHeaders = z.object({
  "Idempotency-Key": z
    .string()
    .regex(/^[!-~]{1,200}$/)
    .optional()
    .meta({
      description:
        "Identifies the request, so that it can be retried safely: a repeated request gets the stored verdicts. If both arrive at the same time, the second waits for the first.",
    }),
});

/** How long all evaluators of one request together may block the main thread. */
const maxMainThreadMs = 10;

interface EvaluateServices {
  store: Store;
  registry: Registry;
  runEvaluator: RunEvaluator;
  resultWriter: ResultWriter;
  keysInFlight: KeysInFlight;
  freeRunIds: FreeRunIds;
}

/** A request to evaluate a sample. */
interface EvaluationRequest {
  accountId: string;
  /** Who evaluates, and so who creates the project. */
  actor: Actor;
  /** The key that calls to judges' models count for; no key if absent. */
  keyId?: string | undefined;
  sample: Sample;
  evaluators: readonly WantedEvaluator[];
  metadata: ResultMetadata;
  /** Used instead of the metadata's project id. If no project has this name, it is created when a result is to be stored. */
  project?: NewProject | undefined;
  /** Which results are stored: all, all that did not pass, or none. */
  capture: "all" | "fails-only" | "none";
  /** Whether each score comes with the interval of all earlier ones. */
  hasConfidenceInterval: boolean;
  /** The client's name for this request. A verdict that is stored under it is returned again instead of being computed again. */
  idempotencyKey?: string | undefined;
  /** The span under which calls to models are traced. */
  span?: EvaluatedSpan | undefined;
}

/** A stored result, or one that the request did not want stored. */
type Evaluation = EvaluationRecord | StoredResult;

/** The body is read by the handler, once the request is admitted. */
const evaluateSample = route("POST", "/v1/evaluate", {
  needs: "evaluate",
  id: "evaluate",
  summary: "Evaluate a sample with one or more evaluators",
  description:
    "Runs 1 to 20 evaluators on one sample, concurrently, and stores the results before it responds. A family's `required_input_fields` and `optional_input_fields` say which texts its evaluators read. An evaluator that fails does not make the request fail: its outcome has a status and an error message instead of a verdict.",
  hasOldNames: true,
  more: {
    requestParams: { header: idempotencyHeaders },
    requestBody: body(EvaluateRequest, examples.evaluation),
  },
  responses: {
    "200": response("The outcome of each evaluator, in request order", EvaluateResponse, {
      results: [{ ...examples.evaluated, evaluation_result: examples.result, result: examples.result }],
    }),
    ...budgetSpent,
    "409": errorResponse(
      "evaluation_run_id is a run whose results Presage makes",
      "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41 is a run whose results Presage makes. Leave evaluation_run_id out, or name an experiment.",
    ),
    "413": errorResponse(
      "The body is too large, or its texts are too long for this many evaluators",
      "20 evaluators × 2000000 characters exceed the limit of 33554432; use at most 16 evaluators in one request.",
    ),
    "429": errorResponse(
      "The rate of the key or its account was reached, or one of them has too many requests in progress (rate_limit)",
      "At most 120 evaluation requests per minute are allowed for an account.",
      { category: "rate_limit" },
    ),
    "503": {
      ...unavailable["503"],
      description:
        "The database is unavailable, too many evaluations are in progress, or the server is out of memory for this request, and nothing was stored; or the database did not confirm the results, which may or may not be stored",
    },
  },
  async handle(
    services: EvaluateServices & Pick<HttpServices, "settings"> & { evaluationAdmission: Admission },
    { call, requester },
  ) {
    const { maxBodyBytes } = services.settings;
    const { request, exchange, caller } = call;
    const { accountId } = caller;
    countUsage(call, "evaluate");
    await admit(services.evaluationAdmission, call);
    const body = await readExactBody(call, EvaluateRequest, maxBodyBytes).catch((error: unknown) =>
      addEvaluatorIssues(services, accountId, error),
    );
    const references = readReferences(body);
    const sample = readSample(body);
    refuseTooMuch(sample, references.length, maxBodyBytes);
    const capture = body.capture ?? "all";
    const stored = capture === "none" ? 0 : references.length;
    const reserveForResponse = reserveResults(exchange, {
      stored,
      storedCharacters: stored * charactersOf(sample),
      isResponseLong: isLongResponse(Array.from({ length: 2 * references.length }, () => sample)),
    });
    const wanted: EvaluationRequest = {
      accountId,
      actor: requester.actor,
      keyId: spenderOf(caller).keyId,
      sample,
      evaluators: references,
      metadata: readResultMetadata(body),
      project: body.project_name ? { name: body.project_name, userId: caller.userId } : undefined,
      capture,
      hasConfidenceInterval: body.confidence_interval_strategy === "full-history",
      idempotencyKey: readIdempotencyKey(request.headers),
      span: exchange.span,
    };
    const evaluations = await evaluate(services, wanted, request.signal).catch((error: unknown) => {
      if (!(error instanceof InvalidEvaluatorsError)) throw error;
      throw new InvalidRequestError(toEvaluatorIssues(error.issues, references), error);
    });
    const items = toResponseItems(evaluations);
    const isLong = isLongResponse(items);
    reserveForResponse(isLong);
    if (!isLong) return toShortResponse(items);
    return reply(200, { results: items.map(([item, result]) => withOldItemNames(item, result)) });
  },
});

export const evaluateRoutes = [evaluateSample];

const { evaluators, criteria, explain } = EvaluateRequest.shape;
const namedEvaluators = z.object({ evaluators, criteria, explain });

/** Throws the error of a refused body, with the evaluators that it names and that cannot be used. */
async function addEvaluatorIssues(
  services: EvaluateServices,
  accountId: string,
  error: unknown,
): Promise<never> {
  const named = error instanceof InvalidRequestError && namedEvaluators.safeParse(error.refused).data;
  if (!named) throw error;
  const references = readReferences(named);
  const issues = await findEvaluatorIssues(services, accountId, references);
  throw new InvalidRequestError([...error.issues, ...toEvaluatorIssues(issues, references)]);
}

/** Every evaluator's result contains the texts: once in the store and four times in the response, twice under new names and old. */
function refuseTooMuch(sample: Sample, evaluators: number, maxBodyBytes: number): void {
  const characters = charactersOf(sample);
  if (characters * evaluators <= 2 * maxBodyBytes) return;
  throw new ServiceError(
    "evaluation_too_large",
    `${evaluators} evaluators × ${characters} characters exceed the limit of ${2 * maxBodyBytes}; use at most ${Math.floor((2 * maxBodyBytes) / characters)} evaluators in one request.`,
  );
}

type ResponseItem = [item: NewItem, result: EvaluationResult | null];

function toResponseItems(evaluations: readonly Evaluation[]): ResponseItem[] {
  return evaluations.map((evaluation) => [
    toItem(evaluation),
    evaluation.outcome.status === "success" ? toEvaluationResult(evaluation) : null,
  ]);
}

function toShortResponse(items: readonly ResponseItem[]): Response {
  const json = `{"results":[${items.map(([item, result]) => itemJson(item, result)).join(",")}]}`;
  return new Response(json, { headers: { "content-type": "application/json;charset=utf-8" } });
}

function toItem(evaluation: Evaluation): NewItem {
  const { outcome, evaluatorId, profile } = evaluation;
  const profileName = profile?.name ?? "";
  const isWithout = outcome.status !== "success" && "id" in evaluation;
  return {
    evaluator_id: evaluatorId,
    profile_name: profileName,
    criteria: profileName,
    status: outcome.status,
    error_message: outcome.errorMessage ?? null,
    ...(isWithout && { result_id: String(evaluation.id) }),
  };
}

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
    // A few rows by their keys, so they need not queue behind long reads.
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
  const reader = store.briefReader(requester);
  const counts = await selectScoreCounts(reader, requester.accountId, evaluatorId, profile);
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

/** Adds the project to evaluations. It is created only if a result is about to be stored. */
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
 * For one Idempotency-Key, each mention of an evaluator with a revision of a profile and its strategies yields one stored verdict.
 * Another sample, or one that belongs elsewhere, is another request, whatever its key.
 */
function requestKeys(
  { idempotencyKey, sample, metadata, project, hasConfidenceInterval }: EvaluationRequest,
  resolved: readonly ResolvedEvaluator[],
): string[] {
  if (idempotencyKey === undefined) return [];
  const sent = JSON.stringify([sample, metadata, ...(project === undefined ? [] : [project.name])]);
  const digest = createHash("sha256").update(sent).digest("base64url");
  const timesNamed = new Map<string, number>();
  return resolved.map(({ id, profile, explainStrategy }) => {
    // Versions before this one knew neither strategy in it.
    const explained = explainStrategy === "always" ? "" : `/${explainStrategy}`;
    const measured = hasConfidenceInterval ? "/full-history" : "";
    const key = `${idempotencyKey}/${digest}/${id}/${profile.publicId}/${profile.revision}${explained}${measured}`;
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
