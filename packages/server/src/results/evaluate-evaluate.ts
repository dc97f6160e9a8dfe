import { EvaluateRequest, type EvaluationResult, type ValidationError } from "@presage/contract";
import type { Services } from "../app/services.ts";
import { type EvaluationRequest, InvalidEvaluatorsError, findEvaluatorIssues, toEvaluatorIssues, toWantedEvaluator } from "../evaluators/resolve-evaluators.ts";
import {
  itemJson,
  type NamedReference,
  type NewItem,
  readReferences,
  readSample,
  withOldItemNames,
} from "../evaluators/old-names.ts";
import { charactersOf, type Sample } from "../evaluators/outcome.ts";
import { actorOf } from "../http/caller.ts";
import { admit, countUsage } from "../http/exchange.ts";
import { isLongResponse, jsonResponse } from "../http/json-response.ts";
import { logBrokenResponse } from "../http/log-broken-response.ts";
import { missing } from "../http/pydantic-issues.ts";
import { readExactBody, readIdempotencyKey } from "../http/read-request.ts";
import { reserveResults } from "../http/reserve-memory.ts";
import { type Route, withCaller } from "../http/route.ts";
import { InvalidRequestError } from "../http/validate.ts";
import { ServiceError } from "../platform/errors.ts";
import { type Evaluation, evaluate } from "./evaluate.ts";
import { toEvaluationResult } from "./evaluation-result.ts";
import { readResultMetadata } from "./read-result-metadata.ts";

export function evaluateRoutes(services: Services): Route[] {
  const { evaluation } = services;
  const { maxBodyBytes } = services.settings;
  return [
    withCaller("POST", "/v1/evaluate", "evaluate", async (call) => {
      const { request, exchange, caller } = call;
      const { accountId } = caller;
      countUsage(call, "evaluate");
      await admit(evaluation.admission, call);
      const body = await readExactBody(call, EvaluateRequest, maxBodyBytes);
      const references = readReferences(body);
      const evaluators = references.map(toWantedEvaluator);
      const sample = readSample(body);
      const issues = missingFields(body, references, sample);
      if (issues.length > 0) {
        const ofEvaluators = await findEvaluatorIssues(evaluation, accountId, evaluators);
        throw new InvalidRequestError([...issues, ...toEvaluatorIssues(ofEvaluators, references)]);
      }
      refuseTooMuch(sample, evaluators.length, maxBodyBytes);
      const capture = body.capture ?? "all";
      const stored = capture === "none" ? 0 : evaluators.length;
      const reserveForResponse = reserveResults(exchange, {
        stored,
        storedCharacters: stored * charactersOf(sample),
        isResponseLong: isLongResponse(Array.from({ length: 2 * evaluators.length }, () => sample)),
      });
      const evaluationRequest: EvaluationRequest = {
        accountId,
        actor: actorOf(caller, exchange.requestId),
        keyId: exchange.keyId,
        sample,
        evaluators,
        metadata: readResultMetadata(body),
        project: body.project_name ? { name: body.project_name, userId: caller.userId } : undefined,
        capture,
        hasConfidenceInterval: body.confidence_interval_strategy === "full-history",
        idempotencyKey: readIdempotencyKey(request.headers),
        span: exchange.span,
      };
      const evaluations = await evaluate(evaluation, evaluationRequest, request.signal).catch(
        (error: unknown) => {
          if (!(error instanceof InvalidEvaluatorsError)) throw error;
          throw new InvalidRequestError(toEvaluatorIssues(error.issues, references));
        },
      );
      const items = toResponseItems(evaluations);
      const isLong = isLongResponse(items);
      reserveForResponse(isLong);
      if (!isLong) return toShortResponse(items);
      const results = items.map(([item, result]) => withOldItemNames(item, result));
      return jsonResponse({ results }, undefined, logBrokenResponse(services, call));
    }),
  ];
}

/** The schema cannot express that evaluators, and something to evaluate, are required under either of two names. */
function missingFields(
  body: EvaluateRequest,
  references: readonly NamedReference[],
  { input, output }: Sample,
): ValidationError[] {
  return [
    ...(references.length === 0 ? [missing(["body", "evaluators"], body)] : []),
    ...(input === undefined && output === undefined
      ? [missing(["body", "evaluated_model_output"], body)]
      : []),
  ];
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

function toItem({ outcome, evaluatorId, profile }: Evaluation): NewItem {
  const profileName = profile?.name ?? "";
  return {
    evaluator_id: evaluatorId,
    profile_name: profileName,
    criteria: profileName,
    status: outcome.status,
    error_message: outcome.errorMessage ?? null,
  };
}
